/** Room that budgets ask for, between the grant of a group's first pod and its deletion, and by a view that is too old. */
import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus } from '../api/quorate/types.ts';
import { RoomKeeper } from '../decisions/capacity/index.ts';
import { readBudget, readPod, readPodGroup } from '../decisions/disruption/index.ts';
import { node } from '../testkit/index.ts';
import { reviewEviction } from './review.fixture.ts';
import { evictionOf, LedgerCluster, namespace } from './ledger-cluster.fixture.ts';
import type { ReviewResponse } from './review.ts';

const budget: PodDisruptionBudget = {
  metadata: {
    name: 'foo',
    namespace,
    uid: 'b',
    generation: 1,
    annotations: { 'policy.quorate.dev/capacity': 'Require' },
  },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'training' } } },
  status: { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 2, desiredHealthy: 0, expectedPods: 2 },
};

const status: DisruptionLedgerStatus = {
  observedGeneration: 1,
  disruptionsAllowed: 1,
  currentHealthy: 1,
  desiredHealthy: 0,
  expectedPods: 1,
  conditions: [{ type: 'PodGroupBudget', status: 'True', reason: 'AllGrouped', message: '', lastTransitionTime: '' }],
  unit: 'PodGroup',
};

const pod = (name: string, nodeName: string, cpu: string, spec: object = {}): Pod => ({
  metadata: { name, namespace, uid: name, labels: { app: 'training' } },
  spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }], nodeName, ...spec },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '' }] },
});

/** A gang of two on a cordoned node, and another node that takes both. */
function stage(unsure?: () => string | undefined) {
  const cluster = new LedgerCluster(status);
  const { client, desk, index } = cluster.replica('a');
  const room = new RoomKeeper({ searches: () => true, unsure });
  room.cluster.setNode(node({ name: 'old', unschedulable: true, capacity: { cpu: '2' } }));
  room.cluster.setNode(node({ name: 'new', capacity: { cpu: '2' } }));
  const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
  index.setPodGroup(namespace, 'g', readPodGroup({ metadata: { name: 'g', namespace }, spec } as never));
  for (const name of ['g-0', 'g-1']) {
    const member = pod(name, 'old', '1', { schedulingGroup: { podGroupName: 'g' } });
    index.setPod(readPod(member));
    room.setPod(member);
    cluster.podVersions.set(name, 1);
  }
  index.setBudget(readBudget({ ...budget, status }));
  index.room = room;
  const webhook = {
    client,
    clock: cluster.clock,
    index,
    budget: () => budget,
    isCordoned: () => true,
    podsResourceVersion: () => '9',
    podsIn: () => [],
    ledgers: desk,
    identity: 'a',
    changes: 'barrier' as const,
  };
  const evict = (name: string): Promise<ReviewResponse> =>
    reviewEviction(webhook, evictionOf(name), new AbortController().signal);
  return { cluster, evict, room };
}

const reasons = ({ status: told }: ReviewResponse): string[] =>
  told?.details?.causes?.map(({ message = '', reason = '' }) => `${reason} ${message}`) ?? [];

test('CP-05 room that vanishes while nothing of the group has gone: its second pod is refused, the first grant stands', async () => {
  const { cluster, evict, room } = stage();
  expect((await evict('g-0')).allowed).toBe(true);
  room.setPod(pod('filler', 'new', '2'));
  const second = await evict('g-1');
  expect(second.allowed).toBe(false);
  expect(second.status?.code).toBe(429);
  expect(reasons(second).join('\n')).toContain('NoRoom NoRoom: 2 cpu');
  expect(cluster.ledger.status?.grants?.map(({ name }) => name)).toEqual(['g-0']);
});

test('CP-08 a view that is too old: 429 with its age, to be asked again in 5 s', async () => {
  const { cluster, evict } = stage(() => 'the view is 6 s old');
  const refused = await evict('g-0');
  expect(refused.status?.code).toBe(429);
  expect(refused.status?.details?.retryAfterSeconds).toBe(5);
  expect(reasons(refused).join('\n')).toContain('CannotTell CannotTell: the view is 6 s old');
  expect(cluster.ledger.status?.grants ?? []).toEqual([]);
});
