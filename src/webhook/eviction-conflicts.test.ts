import { expect, test } from 'vitest';
import { type DisruptionIndex, readBudget, readWorkload } from '../decisions/disruption/index.ts';
import { budgetObject, groupUnits, member, NOW } from '../decisions/disruption/fixtures.ts';
import { ManualClock, settle } from '../machinery/runtime/index.ts';
import type { EvictionWebhook } from './eviction.ts';
import { reviewEviction } from './review.fixture.ts';
import { evictionOf, LedgerCluster, namespace } from './ledger-cluster.fixture.ts';
import type { ReviewResponse } from './review.ts';

/** A budget over two gangs of two, of which one may go, as the ledger has it. */
const budgetWith = (allowed: number, disrupted: Record<string, number> = {}) =>
  budgetObject({
    spec: { minAvailable: 1 },
    status: [allowed, 2, 1, 2],
    conditions: [groupUnits],
    disrupted,
  });

/** A replica beside a ledger of these numbers; `podsResourceVersion` is what they were computed from. */
const clusterWith = (allowed: number, podsResourceVersion = '5'): LedgerCluster =>
  new LedgerCluster({ ...budgetWith(allowed).status, podsResourceVersion }, new ManualClock(NOW));

const conflicts = (count: number) => Array.from({ length: count }, () => ({ code: 409, reason: 'Conflict' }));

async function evict(
  cluster: LedgerCluster,
  { name = 'g0p0', podsSeen = '5' } = {},
): Promise<{ response: ReviewResponse; index: DisruptionIndex }> {
  const { clock } = cluster;
  const { client, desk, index } = cluster.replica('a');
  const podGroups = [{ name: 'g', replicas: 2, policy: { gang: { minCount: 2 } } }];
  index.setWorkload(namespace, 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
  for (const key of ['0', '1']) for (const at of [0, 1]) index.setPod(member(`g${key}p${at}`, { key }));
  index.setBudget(readBudget(budgetWith(1)));
  const webhook: EvictionWebhook = {
    client,
    clock,
    index,
    budget: () => budgetWith(1),
    isCordoned: () => false,
    podsResourceVersion: () => podsSeen,
    podsIn: () => [],
    ledgers: desk,
    identity: 'a',
    changes: 'barrier' as const,
  };
  let settled = false;
  const done = reviewEviction(webhook, evictionOf(name), new AbortController().signal).finally(() => {
    settled = true;
  });
  // Told here so that a failure which comes while time is moved is not taken for one that nobody awaits.
  done.catch(() => {});
  while (!settled) {
    await settle();
    await clock.advance(1000);
  }
  return { response: await done, index };
}

const busy = { allowed: false, status: { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 10 } } };

test('a grant is in the ledger before it is given', async () => {
  const cluster = clusterWith(1);
  const { index, response } = await evict(cluster);
  expect([response.allowed, cluster.writes.length]).toEqual([true, 1]);
  expect(cluster.writes[0]?.status?.disruptionsAllowed).toBe(0);
  // 19.5: the index is told by the watch, not by whoever asks it.
  expect(index.ask(namespace, 'g1p0', NOW)?.views[0]?.budget.status.disruptionsAllowed).toBe(1);
});

test('T50 an eviction whose pods have changed since they were counted is told to come again', async () => {
  const cluster = clusterWith(1, '9');
  expect((await evict(cluster, { podsSeen: '5' })).response).toMatchObject(busy);
  expect(cluster.writes).toEqual([]);
});

test('T51 an error that is no conflict is passed on, and nothing is granted', async () => {
  const cluster = clusterWith(1);
  cluster.refusals.push({ code: 400, reason: 'BadRequest' });
  await expect(evict(cluster)).rejects.toMatchObject({ code: 400 });
  expect(cluster.writes).toEqual([]);
});

test('T52 after a conflict that took the last slot the eviction is refused without another write', async () => {
  const cluster = clusterWith(1);
  const other = { ...cluster.ledger.status, ...budgetWith(0, { g1p0: NOW }).status };
  // Another replica is faster: what this one knows is out of date by then.
  const evicted = evict(cluster);
  cluster.change(other);
  const { response } = await evicted;
  expect(response).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(response.status?.details?.retryAfterSeconds).toBeUndefined();
  expect(cluster.writes).toEqual([]);
});

test('T53 after a conflict that left a slot the second try is granted', async () => {
  const cluster = clusterWith(1);
  cluster.refusals.push(...conflicts(1));
  expect((await evict(cluster)).response.allowed).toBe(true);
  expect(cluster.requests.filter((one) => one.includes('PUT'))).toHaveLength(2);
});

test('T54 twenty conflicts end it, in a way that makes drains wait and not fail', async () => {
  const cluster = clusterWith(1);
  cluster.refusals.push(...conflicts(30));
  const { response } = await evict(cluster);
  expect(response).toMatchObject(busy);
  expect(response.status?.message).toContain('changed too often');
  expect(cluster.refusals).toHaveLength(10);
});
