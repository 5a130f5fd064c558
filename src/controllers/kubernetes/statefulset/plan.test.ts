import { expect, test } from 'vitest';
import type { StatefulSet, StatefulSetSpec } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { POD_NAME_LABEL, REVISION_LABEL } from './identity.ts';
import { isCreatedFromCurrent, planSteps } from './plan.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const set = (spec: Partial<StatefulSetSpec> = {}): StatefulSet => ({
  metadata: { name: 'web' },
  spec: { replicas: 3, template: {}, ...spec },
});

type State = 'ready' | 'starting' | 'terminating' | 'failed';
const pod = (ordinal: number, state: State = 'ready', revision = 'new'): Pod => {
  const name = `web-${ordinal}`;
  const ready = state === 'ready' || state === 'terminating';
  return {
    metadata: {
      name,
      labels: { [POD_NAME_LABEL]: name, [REVISION_LABEL]: revision },
      ...(state === 'terminating' && { deletionTimestamp: '2026-01-01T00:01:30Z' }),
    },
    status: {
      phase: state === 'failed' ? 'Failed' : state === 'starting' ? 'Pending' : 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:50Z' }],
    },
  };
};
const plan = (given: StatefulSet, pods: Pod[]): string[] =>
  planSteps({ set: given, pods, updateRevision: 'new', now: NOW }).map((step) =>
    step.do === 'create' ? `create ${step.ordinal}` : `${step.do} ${step.pod.metadata.name?.slice(4)} ${step.reason}`,
  );
const parallel = { podManagementPolicy: 'Parallel' };
const all = (revision: string): Pod[] => [0, 1, 2].map((ordinal) => pod(ordinal, 'ready', revision));

const cases: { name: string; spec?: Partial<StatefulSetSpec>; pods: Pod[]; want: string[] }[] = [
  { name: 'starts with the first ordinal', pods: [], want: ['create 0'] },
  { name: 'waits for a pod that is starting', pods: [pod(0, 'starting')], want: [] },
  { name: 'goes on past a ready pod', pods: [pod(0)], want: ['create 1'] },
  { name: 'waits until a ready pod is available', spec: { minReadySeconds: 11 }, pods: [pod(0)], want: [] },
  { name: 'goes on past an available pod', spec: { minReadySeconds: 10 }, pods: [pod(0)], want: ['create 1'] },
  { name: 'fills a gap before all else', pods: [pod(0), pod(2)], want: ['create 1'] },
  { name: 'deletes a pod that ended, to create it again', pods: [pod(0, 'failed')], want: ['delete 0 Ended'] },
  { name: 'creates all at once when parallel', spec: parallel, pods: [], want: ['create 0', 'create 1', 'create 2'] },
  { name: 'honours the first ordinal', spec: { ordinals: { start: 5 } }, pods: [], want: ['create 5'] },
  {
    name: 'moves a set to a higher first ordinal, new pods first',
    spec: { ordinals: { start: 2 }, replicas: 2 },
    pods: [pod(0), pod(1), pod(2)],
    want: ['create 3'],
  },
  {
    name: 'scales down from the highest ordinal',
    spec: { replicas: 1 },
    pods: all('new'),
    want: ['delete 2 ScaledDown'],
  },
  {
    name: 'waits for the highest to be gone',
    spec: { replicas: 1 },
    pods: [pod(0), pod(1), pod(2, 'terminating')],
    want: [],
  },
  {
    name: 'does not scale down while a lower condemned pod is the first unavailable and a higher one is not ready',
    spec: { replicas: 1 },
    pods: [pod(0), pod(1, 'starting'), pod(2, 'starting')],
    want: [],
  },
  {
    name: 'deletes the first unavailable pod when scaling down',
    spec: { replicas: 2 },
    pods: [pod(0), pod(1), pod(2, 'starting')],
    want: ['delete 2 ScaledDown'],
  },
  {
    name: 'scales down all at once when parallel',
    spec: { ...parallel, replicas: 1 },
    pods: all('new'),
    want: ['delete 2 ScaledDown', 'delete 1 ScaledDown'],
  },
  { name: 'updates the highest ordinal first', pods: all('old'), want: ['delete 2 Outdated'] },
  {
    name: 'waits for the updated pod',
    spec: parallel,
    pods: [pod(0, 'ready', 'old'), pod(1, 'ready', 'old'), pod(2, 'starting')],
    want: [],
  },
  {
    name: 'stops the update at the partition',
    spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
    pods: [pod(0, 'ready', 'old'), pod(1, 'ready', 'old'), pod(2)],
    want: [],
  },
  {
    name: 'updates as many at once as maxUnavailable says',
    spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } },
    pods: all('old'),
    want: ['delete 2 Outdated', 'delete 1 Outdated'],
  },
  {
    name: 'leaves outdated pods alone under OnDelete',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: all('old'),
    want: [],
  },
  { name: 'is content with what it has', pods: all('new'), want: [] },
];
for (const { name, pods, spec, want } of cases) {
  test(`planSteps() ${name}`, () => expect(plan(set(spec), pods)).toEqual(want));
}

test('planSteps() labels an adopted pod that lost its identity', () => {
  const adopted = pod(0);
  expect(
    plan(set({ replicas: 1 }), [{ ...adopted, metadata: { name: 'web-0', labels: { [REVISION_LABEL]: 'new' } } }]),
  ).toEqual(['label 0 IdentityLost']);
});

test('isCreatedFromCurrent() keeps ordinals below the partition at the current revision', () => {
  const canary = set({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
  expect([0, 1, 2].map((ordinal) => isCreatedFromCurrent(canary, ordinal))).toEqual([true, true, false]);
});
