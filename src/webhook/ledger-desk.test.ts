import { expect, test } from 'vitest';
import type { DisruptionLedger, LedgerGrant } from '../api/quorate/types.ts';
import { readBudget, readWorkload } from '../decisions/disruption/index.ts';
import { budgetObject, groupUnits, member } from '../decisions/disruption/fixtures.ts';
import { ManualClock, settle } from '../machinery/runtime/index.ts';
import { LedgerCluster, type LedgerReplica, namespace } from './ledger-cluster.fixture.ts';
import { LIST_MS } from './ledger-desk.ts';
import { ABANDONED_MS, HOLD_MS } from './ledger-hold.ts';

const never = new AbortController().signal;

/** Nine groups of one pod each, of which so many may go. */
function stage(disruptionsAllowed = 5) {
  const spec = { minAvailable: 9 - disruptionsAllowed };
  const status = [disruptionsAllowed, 9, spec.minAvailable, 9] as const;
  const budget = budgetObject({ spec, status, conditions: [groupUnits] });
  const cluster = new LedgerCluster({ ...budget.status, grants: [] });
  const replica = (identity: string, more: { holdsAfterMs?: number } = {}): LedgerReplica => {
    const made = cluster.replica(identity, more);
    const podGroups = [{ name: 'g', replicas: 9, policy: { gang: { minCount: 1 } } }];
    made.index.setWorkload(namespace, 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
    for (let at = 0; at < 9; at += 1) made.index.setPod(member(`p${at}`, { key: `${at}` }));
    made.index.setBudget(readBudget(budget));
    return made;
  };
  const allowed = (): number | undefined => cluster.ledger.status?.disruptionsAllowed;
  return { cluster, replica, allowed };
}

const newest = ({ desk }: LedgerReplica): DisruptionLedger => desk.get(namespace, 'foo') as DisruptionLedger;

const grantOf = (name: string, cost: 0 | 1 = 1): LedgerGrant => ({
  name,
  uid: `uid-${name}`,
  at: new Date(new ManualClock().now()).toISOString(),
  cost,
  kind: 'Charged',
  by: 'r',
});

const listed = ({ status }: DisruptionLedger): string[] => (status?.grants ?? []).map(({ name }) => name);

async function grant(replica: LedgerReplica, pod: string, cost: 0 | 1 = 1): Promise<DisruptionLedger> {
  return replica.desk.grant(newest(replica), grantOf(pod, cost));
}

async function deliverAll(cluster: LedgerCluster, replicas: readonly LedgerReplica[]): Promise<void> {
  await cluster.clock.advance(LIST_MS);
  while ((cluster.onTheWay?.length ?? 0) > 0) {
    cluster.onTheWay?.shift()?.deliver();
    for (const replica of replicas) replica.showAll();
    await cluster.clock.advance(20);
  }
}

test('the first grant is written before it is given and takes the hold, the next is given before it is written', async () => {
  const { allowed, cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  expect([allowed(), cluster.ledger.status?.hold]).toEqual([4, { holder: 'a', stamp: '1' }]);
  cluster.onTheWay = [];
  const given = await grant(a, 'p1');
  expect([listed(given), listed(newest(a)), listed(cluster.ledger)]).toEqual([['p0', 'p1'], ['p0', 'p1'], ['p0']]);
  await deliverAll(cluster, [a]);
  expect([allowed(), cluster.ledger.status?.hold?.stamp]).toEqual([3, '2']);
});

test('what is given while a write is on its way is listed by the next', async () => {
  const { allowed, cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  cluster.onTheWay = [];
  for (const pod of ['p1', 'p2', 'p3']) await grant(a, pod);
  await deliverAll(cluster, [a]);
  expect([allowed(), Object.keys(cluster.ledger.status?.disruptedPods ?? {})]).toEqual([1, ['p0', 'p1', 'p2', 'p3']]);
  // One for the first, one for what was given until it was sent, one for the rest.
  expect(cluster.writes.length).toBeLessThanOrEqual(3);
});

test('another replica has the holder list what it gave, though that was on its way when it asked', async () => {
  const { allowed, cluster, replica } = stage();
  const [a, b] = [replica('a'), replica('b')];
  await grant(a, 'p0');
  b.showAll();
  expect(b.desk.isHeldElsewhere(newest(b))).toBe(true);
  cluster.onTheWay = [];
  await grant(a, 'p1');
  await cluster.clock.advance(LIST_MS);
  const claimed = b.desk.claim(newest(b), never);
  await settle();
  // The recall arrives first: the list of what was given is refused, and sent again.
  cluster.onTheWay.sort((one) => (one.replica === b ? -1 : 1));
  await deliverAll(cluster, [a, b]);
  expect(await claimed).toBe(true);
  expect([allowed(), cluster.ledger.status?.hold]).toEqual([3, undefined]);
  expect(cluster.requests.filter((one) => one === 'a PUT foo/status')).toHaveLength(3);
});

test('a holder that is told to let go does so with its next write, whatever that is about', async () => {
  const { cluster, replica } = stage();
  const [a, b] = [replica('a'), replica('b')];
  await grant(a, 'p0');
  b.showAll();
  const claimed = b.desk.claim(newest(b), never);
  await settle();
  a.showAll();
  await settle();
  b.showAll();
  await cluster.clock.advance(100);
  expect(await claimed).toBe(true);
  expect(cluster.ledger.status?.hold).toBeUndefined();
  await grant(b, 'p1');
  a.showAll();
  await grant(a, 'p2');
  // Neither takes a hold that it would be asked for again.
  expect(cluster.ledger.status).toMatchObject({ disruptionsAllowed: 2 });
  expect(cluster.ledger.status?.hold).toBeUndefined();
});

test('a holder that is gone keeps the others waiting until nothing it granted can still be on its way', async () => {
  const { cluster, replica } = stage();
  const [a, b] = [replica('a'), replica('b')];
  await grant(a, 'p0');
  b.showAll();
  const claimed = b.desk.claim(newest(b), never);
  await cluster.clock.advance(2100);
  expect(await claimed).toBe(false);
  await expect(grant(b, 'p1')).rejects.toMatchObject({ code: 409 });
  await cluster.clock.advance(ABANDONED_MS - 2100 - 1);
  b.showAll();
  const tooEarly = b.desk.claim(newest(b), never);
  await cluster.clock.advance(1);
  b.sawPods = () => Promise.resolve(false);
  expect(await b.desk.claim(newest(b), never)).toBe(false);
  b.sawPods = () => Promise.resolve(true);
  expect(b.desk.isHeldElsewhere(newest(b))).toBe(true);
  await cluster.clock.advance(20);
  expect(await tooEarly).toBe(true);
  await grant(b, 'p1');
  expect(cluster.ledger.status).toMatchObject({ disruptionsAllowed: 3 });
});

test('a replica that starts counts the age of a hold from when it saw it', async () => {
  const { cluster, replica } = stage();
  await grant(replica('a'), 'p0');
  await cluster.clock.advance(ABANDONED_MS);
  const b = replica('b');
  expect(b.desk.isHeldElsewhere(newest(b))).toBe(true);
  const claimed = b.desk.claim(newest(b), never);
  await cluster.clock.advance(2100);
  expect(await claimed).toBe(false);
});

test('MN-11: successors that live five seconds each add up how long they saw a dead holder silent', async () => {
  const { cluster, replica } = stage();
  await grant(replica('a'), 'p0');
  const diedMs = cluster.clock.elapsed();
  let lives = 0;
  for (; lives < 60; lives += 1) {
    const next = replica(`life-${lives}`);
    const claimed = next.desk.claim(newest(next), never);
    await cluster.clock.advance(2500);
    if (await claimed) break;
    const again = next.desk.claim(newest(next), never);
    await cluster.clock.advance(2500);
    if (await again) break;
  }
  // Never sooner than one that lives on would.
  expect(cluster.clock.elapsed() - diedMs).toBeGreaterThanOrEqual(ABANDONED_MS);
  expect(lives).toBeLessThan(25);
});

test('MN-11: two who wait at once count the same seconds once', async () => {
  const { cluster, replica } = stage();
  await grant(replica('a'), 'p0');
  for (const name of ['b', 'c']) {
    const one = replica(name);
    const claimed = one.desk.claim(newest(one), never);
    await cluster.clock.advance(10);
    void claimed;
  }
  await cluster.clock.advance(2100);
  expect(cluster.ledger.status?.hold?.silentSeconds).toBe(2);
});

test('MN-11: a young process writes each grant before it is given, and takes no hold', async () => {
  const { cluster, replica } = stage();
  const a = replica('a', { holdsAfterMs: 10_000 });
  await grant(a, 'p0');
  await grant(a, 'p1');
  expect([listed(cluster.ledger), cluster.ledger.status?.hold]).toEqual([['p0', 'p1'], undefined]);
  await cluster.clock.advance(10_000);
  await grant(a, 'p2');
  expect(cluster.ledger.status?.hold?.holder).toBe('a');
});

test('a clock that is set forward makes no hold older than it is', async () => {
  const { cluster, replica } = stage();
  const [a, b] = [replica('a'), replica('b')];
  await grant(a, 'p0');
  b.showAll();
  b.clock.setByMs = ABANDONED_MS;
  const claimed = b.desk.claim(newest(b), never);
  await cluster.clock.advance(2100);
  expect([await claimed, b.desk.isHeldElsewhere(newest(b))]).toEqual([false, true]);
  // Nor does one that is set back make it younger.
  b.clock.setByMs = -3_600_000;
  await cluster.clock.advance(ABANDONED_MS - 2100);
  expect(await b.desk.claim(newest(b), never)).toBe(true);
});

test.each([
  ['that nothing happened to', () => {}],
  ['whose clock was set back', (a: LedgerReplica) => (a.clock.setByMs = -HOLD_MS)],
  ['that slept', (a: LedgerReplica) => (a.clock.sleptMs = HOLD_MS)],
])('a hold ends by itself: a holder %s then writes grants first again', async (_, change) => {
  const { allowed, cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  await cluster.clock.advance(HOLD_MS);
  change(a);
  cluster.onTheWay = [];
  const granting = grant(a, 'p1');
  await settle();
  expect([cluster.onTheWay.length, allowed()]).toEqual([1, 4]);
  await deliverAll(cluster, [a]);
  expect((await granting).status?.disruptionsAllowed).toBe(3);
});

test('numbers computed before something was given are not written', async () => {
  const { cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  const before = newest(a);
  cluster.onTheWay = [];
  await grant(a, 'p1');
  const written = a.desk.write(before, { disruptionsAllowed: 5 });
  const refused = expect(written).rejects.toMatchObject({ code: 409 });
  await refused;
  await deliverAll(cluster, [a]);
  expect(cluster.ledger.status?.disruptionsAllowed).toBe(3);
});

test('numbers of another replica leave the hold as it is, and what was given is put on top of them', async () => {
  const { cluster, replica } = stage();
  const [a, b] = [replica('a'), replica('b')];
  await grant(a, 'p0');
  cluster.onTheWay = [];
  await grant(a, 'p1');
  cluster.onTheWay = undefined;
  b.showAll();
  await b.desk.write(newest(b), { ...newest(b).status, disruptionsAllowed: 7 });
  expect(cluster.ledger.status).toMatchObject({ disruptionsAllowed: 7, hold: { holder: 'a', stamp: '1' } });
  a.showAll();
  expect(listed(newest(a))).toContain('p1');
});

test('a stop lists everything and lets go', async () => {
  const { allowed, cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  void grant(a, 'p1');
  await a.desk.close();
  expect([allowed(), cluster.ledger.status?.hold]).toEqual([3, undefined]);
});

test('grants that cannot be listed are tried again until they are, and complained of now and then', async () => {
  const { allowed, cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  cluster.refusals.push(...Array.from({ length: 6 }, () => ({ code: 503, reason: 'ServiceUnavailable' })));
  await grant(a, 'p1');
  await cluster.clock.advance(LIST_MS);
  expect([allowed(), a.warnings.length]).toEqual([4, 1]);
  await cluster.clock.advance(9000);
  expect([allowed(), a.warnings.length]).toEqual([4, 1]);
  await cluster.clock.advance(9000);
  expect([allowed(), a.warnings.length]).toEqual([3, 2]);
});

test('a definition that does not keep the hold leaves every grant written first', async () => {
  const { cluster, replica } = stage();
  const a = replica('a');
  await grant(a, 'p0');
  const { hold: _, ...pruned } = cluster.ledger.status ?? {};
  cluster.change(pruned);
  a.showAll();
  cluster.onTheWay = [];
  const granting = grant(a, 'p1');
  await settle();
  expect(cluster.onTheWay).toHaveLength(1);
  await deliverAll(cluster, [a]);
  expect((await granting).status?.disruptionsAllowed).toBe(3);
});

test('nothing is given ahead while a write is on its way that grants by itself', async () => {
  const { allowed, cluster, replica } = stage(2);
  const a = replica('a');
  await grant(a, 'p0');
  cluster.onTheWay = [];
  const before = newest(a);
  // A whole group is charged with the last that may go.
  const grants = [...(before.status?.grants ?? []), grantOf('p2')];
  const group = a.desk.write(before, { ...before.status, grants }, { grants: true });
  const single = grant(a, 'p1');
  const refused = expect(single).rejects.toMatchObject({ code: 409 });
  await deliverAll(cluster, [a]);
  await group;
  await refused;
  expect(allowed()).toBe(0);
});
