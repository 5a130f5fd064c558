import { expect, test } from 'vitest';
import type { Pod, Taint, Toleration } from '../../../api/generated/core-v1.ts';
import { decideTaintEviction } from './decide.ts';

const pod = (...tolerations: Toleration[]): Pod => ({ metadata: {}, spec: { containers: [], tolerations } });
const a: Taint = { key: 'a', value: '1', effect: 'NoExecute' };
const b: Taint = { key: 'b', effect: 'NoExecute' };

const cases: { name: string; pod: Pod; taints: Taint[]; want: object }[] = [
  { name: 'spares a pod on a clean node', pod: pod(), taints: [], want: { reason: 'NoTaints' } },
  { name: 'evicts a pod that tolerates nothing', pod: pod(), taints: [a], want: { reason: 'NotTolerated' } },
  {
    name: 'evicts when one of two taints is not tolerated',
    pod: pod({ key: 'a', operator: 'Exists' }),
    taints: [a, b],
    want: { reason: 'NotTolerated' },
  },
  {
    name: 'spares a pod that tolerates everything',
    pod: pod({ operator: 'Exists' }),
    taints: [a, b],
    want: { reason: 'ToleratedForever' },
  },
  {
    name: 'takes the shortest of the tolerations in use',
    pod: pod(
      { key: 'a', value: '1', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'b', operator: 'Exists', tolerationSeconds: 5 },
      { key: 'c', operator: 'Exists', tolerationSeconds: 1 },
    ),
    taints: [a, b],
    want: { reason: 'ToleratedForAWhile', seconds: 5 },
  },
  {
    name: 'evicts at once when the toleration lasts no time',
    pod: pod({ key: 'a', operator: 'Exists', tolerationSeconds: 0 }),
    taints: [a],
    want: { reason: 'NotTolerated' },
  },
  {
    name: 'does not take a toleration of another value',
    pod: pod({ key: 'a', value: '2' }),
    taints: [a],
    want: { reason: 'NotTolerated' },
  },
];
for (const { name, pod: given, taints, want } of cases) {
  test(`decideTaintEviction() ${name}`, () => expect(decideTaintEviction(given, taints)).toEqual(want));
}
