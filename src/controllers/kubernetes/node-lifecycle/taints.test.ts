import { expect, test } from 'vitest';
import type { Node, Taint } from '../../../api/generated/core-v1.ts';
import { NOT_READY, UNREACHABLE, wantedTaints } from './taints.ts';

const node = (ready: string | undefined, taints: Taint[] = [], unschedulable = false): Node => ({
  metadata: { name: 'n' },
  spec: { taints, unschedulable },
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
});
const named = (taints: Taint[] | undefined) => taints?.map(({ key, effect }) => `${key}:${effect}`);
const noSchedule = (key: string): Taint => ({ key, effect: 'NoSchedule' });
const noExecute = (key: string): Taint => ({ key, effect: 'NoExecute' });
const custom: Taint = { key: 'example.com/own', effect: 'NoExecute' };

const cases: { name: string; given: Node; evict?: boolean; want: string[] | undefined }[] = [
  { name: 'leaves a ready node alone', given: node('True', [custom]), want: undefined },
  { name: 'mirrors NotReady as NoSchedule only', given: node('False'), want: [`${NOT_READY}:NoSchedule`] },
  {
    name: 'adds the evicting taint once allowed',
    given: node('Unknown'),
    evict: true,
    want: [`${UNREACHABLE}:NoSchedule`, `${UNREACHABLE}:NoExecute`],
  },
  {
    name: 'swaps the evicting taint at once when the condition changes',
    given: node('False', [noSchedule(UNREACHABLE), noExecute(UNREACHABLE)]),
    want: [`${NOT_READY}:NoSchedule`, `${NOT_READY}:NoExecute`],
  },
  {
    name: 'clears a node that came back and keeps the taints of others',
    given: node('True', [noSchedule(UNREACHABLE), custom, noExecute(UNREACHABLE)]),
    want: ['example.com/own:NoExecute'],
  },
  {
    name: 'mirrors a cordon',
    given: node('True', [], true),
    want: ['node.kubernetes.io/unschedulable:NoSchedule'],
  },
  {
    name: 'ends the mirror of a cordon',
    given: node('True', [noSchedule('node.kubernetes.io/unschedulable')]),
    want: [],
  },
];
for (const { evict = false, given, name, want } of cases) {
  test(`wantedTaints() ${name}`, () => expect(named(wantedTaints(given, { evict, now: 0 }))).toEqual(want));
}
