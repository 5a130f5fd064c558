import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus } from '../api/quorate/types.ts';
import { readBudget, readBudgetStatus, readPod, readPodGroup } from '../decisions/disruption/index.ts';
import { settle } from '../machinery/runtime/index.ts';
import { reviewEviction } from './review.fixture.ts';
import { LedgerCluster, namespace, podObjects } from './ledger-cluster.fixture.ts';
import { LIST_MS } from './ledger-desk.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import { sawPodsOfNow } from './pods-seen.ts';
import type { ReviewResponse } from './review.ts';

const never = new AbortController().signal;

const budget: PodDisruptionBudget = {
  metadata: { name: 'foo', namespace, uid: 'b', generation: 1 },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'training' } } },
  status: { observedGeneration: 1, disruptionsAllowed: 6, currentHealthy: 6, desiredHealthy: 0, expectedPods: 6 },
};

const status: DisruptionLedgerStatus = {
  observedGeneration: 1,
  disruptionsAllowed: 2,
  currentHealthy: 3,
  desiredHealthy: 1,
  expectedPods: 3,
  conditions: [{ type: 'PodGroupBudget', status: 'True', reason: 'AllGrouped', message: '', lastTransitionTime: '' }],
  unit: 'PodGroup',
};

const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs', controller: true };

const pod = (name: string, gang: string): Pod =>
  ({
    metadata: { name, namespace, uid: name, labels: { app: 'training' }, ownerReferences: [replicaSet] },
    spec: { containers: [], schedulingGroup: { podGroupName: gang } },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as Pod;

/** Three gangs of two under one budget, and an API server that takes every status as it comes. */
function stage() {
  const cluster = new LedgerCluster(status);
  for (const gang of ['a', 'b', 'c']) for (const at of [0, 1]) cluster.podVersions.set(`${gang}-${at}`, 1);
  return { cluster, ...join(cluster, 'a') };
}

function join(cluster: LedgerCluster, identity: string) {
  const replica = cluster.replica(identity);
  const { client, desk, index } = replica;
  const known = new Map(cluster.podVersions);
  for (const gang of ['a', 'b', 'c']) {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    index.setPodGroup(namespace, gang, readPodGroup({ metadata: { name: gang, namespace }, spec } as never));
    for (const at of [0, 1]) index.setPod(readPod(pod(`${gang}-${at}`, gang)));
  }
  index.setBudget(readBudget({ ...budget, status }));
  const webhook = {
    client,
    clock: cluster.clock,
    index,
    budget: () => budget,
    isCordoned: () => false,
    podsResourceVersion: () => '9',
    podsIn: () => podObjects(known),
    ledgers: desk,
    identity: 'a',
    changes: 'barrier' as const,
  };
  replica.sawPods = (of, signal) => sawPodsOfNow(webhook, of, signal);
  const review = (name: string) =>
    reviewEviction(
      webhook,
      { uid: 'u', operation: 'CREATE', resource: { group: '', version: 'v1', resource: 'pods' }, namespace, name },
      never,
    );
  const seesGone = (name: string): void => {
    known.delete(name);
    index.deletePod(namespace, name);
  };
  return { index, review, seesGone };
}

test('reviewEviction() charges with one write and no read', async () => {
  const { cluster, review } = stage();
  expect(await review('a-0')).toEqual({ allowed: true });
  expect(cluster.requests).toEqual(['a PUT foo/status']);
});

test('reviewEviction() writes the count that the controller arrives at, so that it need not write again', async () => {
  const { cluster, index, review } = stage();
  await review('a-0');
  const written = cluster.writes[0]?.status;
  expect(written?.disruptionsAllowed).toBe(1);
  const known = index.budget(namespace, 'foo');
  if (known === undefined) throw new Error('no budget');
  const counted = index.suppose([{ ...known, status: readBudgetStatus(written) }], () =>
    index.count(namespace, 'foo', cluster.clock.now()),
  );
  expect(written?.currentHealthy).toBe(counted?.healthy);
  expect(Object.keys(written?.disruptedPods ?? {})).toEqual(['a-0']);
});

test('reviewEviction() answers before it writes where it holds the ledger', async () => {
  const { cluster, review } = stage();
  await review('a-0');
  cluster.onTheWay = [];
  expect(await review('b-0')).toEqual({ allowed: true });
  expect(cluster.writes).toHaveLength(1);
  await cluster.clock.advance(LIST_MS);
  cluster.onTheWay[0]?.deliver();
  expect(Object.keys(cluster.ledger.status?.disruptedPods ?? {})).toEqual(['a-0', 'b-0']);
  expect(cluster.ledger.status?.disruptionsAllowed).toBe(0);
});

test('18.13: reviewEviction() refuses in words that kubectl drain prints: the numbers, the group and what would help', async () => {
  const { review } = stage();
  for (const name of ['a-0', 'b-0']) expect(await review(name)).toEqual({ allowed: true });
  expect(await review('c-0')).toMatchObject({
    allowed: false,
    status: {
      code: 429,
      message:
        "Cannot evict pod as it would violate the pod's disruption budget. Budget foo (minAvailable 1) counts pod groups: 1 of 3 expected healthy, 1 needed, 0 may be disrupted. Group PodGroup/c: 2 of 2 pods healthy, needs 2. To unblock: wait until pod a-0 becomes Ready again.",
    },
  });
});

test('reviewEviction() refuses for now when the ledger it knew is gone', async () => {
  const { cluster, review } = stage();
  cluster.gone = true;
  expect(await review('a-0')).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(cluster.writes).toEqual([]);
});

test('reviewEviction() takes no ledger over before it sees what its dead holder let go', async () => {
  const { cluster, review } = stage();
  await review('a-0');
  const other = join(cluster, 'b');
  // Given, and carried out, and never listed.
  cluster.onTheWay = [];
  expect(await review('b-0')).toEqual({ allowed: true });
  for (const name of ['a-0', 'b-0']) cluster.podVersions.delete(name);
  other.seesGone('a-0');
  await cluster.clock.advance(ABANDONED_MS);
  const ask = async () => {
    let answer: ReviewResponse | undefined;
    void other.review('c-0').then((given) => (answer = given));
    for (let waited = 0; answer === undefined && waited < 200; waited += 1) {
      for (const one of cluster.onTheWay?.splice(0) ?? []) if (one.replica.identity === 'b') one.deliver();
      await settle();
      await cluster.clock.advance(20);
    }
    return answer;
  };
  expect((await ask())?.status?.message).toContain('does not answer');
  other.seesGone('b-0');
  const refused = await ask();
  expect(refused).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(refused?.status?.message).not.toContain('does not answer');
});
