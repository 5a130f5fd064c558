/** What is recorded, pinned and answered, case by case (GR-04 to GR-10, GR-19). */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { LedgerGrant } from '../api/quorate/types.ts';
import {
  GRANT_MS,
  isStillThere,
  keepGrants,
  readBudget,
  readBudgetStatus,
  readPod,
  readPodGroup,
} from '../decisions/disruption/index.ts';
import { type EvictionWebhook, recordEviction } from './eviction.ts';
import { evictionOf, LedgerCluster, namespace } from './ledger-cluster.fixture.ts';
import { LIST_MS } from './ledger-desk.ts';

const never = new AbortController().signal;

interface PodOptions {
  readonly ready?: boolean;
  readonly phase?: string;
  readonly going?: boolean;
  readonly owner?: 'StatefulSet' | 'ReplicaSet' | 'Job' | undefined;
  readonly uid?: string;
}

const API_VERSIONS = { StatefulSet: 'apps/v1', ReplicaSet: 'apps/v1', Job: 'batch/v1' };

function pod(name: string, options: PodOptions = {}): Pod {
  const { going = false, owner, phase = 'Running', ready = true, uid = name } = options;
  const reference = owner && { apiVersion: API_VERSIONS[owner], kind: owner, name: 'o', uid: 'o', controller: true };
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: '5',
      labels: { app: 'training' },
      ...(going && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ...(reference && { ownerReferences: [reference] }),
    },
    spec: { containers: [], schedulingGroup: { podGroupName: name.split('-')[0] } },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  } as unknown as Pod;
}

/** Gangs a, b and c of two pods each. */
function stage({ minAvailable = 2, alwaysAllow = false } = {}) {
  const budget: PodDisruptionBudget = {
    metadata: { name: 'foo', namespace, uid: 'b', generation: 1 },
    spec: {
      minAvailable,
      selector: { matchLabels: { app: 'training' } },
      ...(alwaysAllow && { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
    },
    status: { observedGeneration: 1, disruptionsAllowed: 9, currentHealthy: 9, desiredHealthy: 0, expectedPods: 9 },
  };
  const cluster = new LedgerCluster({
    observedGeneration: 1,
    disruptionsAllowed: 3 - minAvailable,
    currentHealthy: 3,
    desiredHealthy: minAvailable,
    expectedPods: 3,
    conditions: [{ type: 'PodGroupBudget', status: 'True', reason: 'GroupUnits', message: '', lastTransitionTime: '' }],
    unit: 'PodGroup',
    grants: [],
  });
  cluster.budget = budget;
  const replica = cluster.replica('r');
  const { index } = replica;
  const pods = new Map<string, Pod>();
  cluster.podNamed = (name) => pods.get(name);
  const put = (one: Pod): void => {
    pods.set(one.metadata.name ?? '', one);
    index.setPod(readPod(one));
  };
  for (const gang of ['a', 'b', 'c']) {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    index.setPodGroup(namespace, gang, readPodGroup({ metadata: { name: gang, namespace }, spec } as never));
    for (const at of [0, 1]) put(pod(`${gang}-${at}`));
  }
  index.setBudget(readBudget({ ...budget, status: cluster.ledger.status ?? {} }));
  const webhook: EvictionWebhook = {
    client: replica.client,
    clock: cluster.clock,
    index,
    budget: () => cluster.budget,
    isCordoned: () => false,
    podsResourceVersion: () => '9',
    podsIn: () => [],
    ledgers: replica.desk,
    identity: 'r',
    changes: 'barrier',
  };
  const evict = (name: string, deleteOptions?: object, more: object = {}) =>
    recordEviction(webhook, { ...evictionOf(name), object: { deleteOptions }, ...more }, never);
  const answer = async (name: string): Promise<string | number> => {
    const { recorded, response } = await evict(name);
    return response.allowed ? (recorded?.grant.kind ?? 'unrecorded') : (response.status?.code ?? 0);
  };
  const grants = (): readonly LedgerGrant[] => replica.desk.get(namespace, 'foo')?.status?.grants ?? [];
  return { cluster, replica, index, put, webhook, evict, answer, grants };
}

const patchOf = ({ response }: Awaited<ReturnType<ReturnType<typeof stage>['evict']>>): unknown =>
  response.patch === undefined ? undefined : JSON.parse(Buffer.from(response.patch, 'base64').toString());

const passes = [
  { what: 'Ready, takes its gang down', options: {}, want: 'Charged' },
  { what: 'running and not Ready', options: { ready: false }, want: 'Unready' },
  { what: 'Pending', options: { phase: 'Pending', ready: false }, want: 'Pending' },
  { what: 'going', options: { going: true }, want: 'Ended' },
  { what: 'finished', options: { phase: 'Succeeded', ready: false }, want: 'Ended' },
] as const;

test.each(passes)('18.1: a pod that is $what is recorded as $want', async ({ options, want }) => {
  const { answer, grants, put } = stage();
  put(pod('a-0', options));
  expect(await answer('a-0')).toBe(want);
  expect(grants()).toMatchObject([{ name: 'a-0', uid: 'a-0', kind: want, cost: want === 'Charged' ? 1 : 0, by: 'r' }]);
});

const ABSENT = [
  { what: 'an eviction', deleteOptions: undefined, more: {} },
  { what: 'an eviction of a certain pod', deleteOptions: { preconditions: { uid: 'x' } }, more: {} },
  { what: 'a dry run by the query', deleteOptions: undefined, more: { dryRun: true } },
  { what: 'a dry run by the body', deleteOptions: { dryRun: ['All'] }, more: {} },
];

describe.each(['barrier', 'read'] as const)('where changes of budgets are known by %s', (changes) => {
  test.each(ABSENT)(
    '18.1: $what of a pod that is not there is 404, and could hit no later pod of its name',
    async (asked) => {
      const { cluster, grants, webhook } = stage();
      const request = { ...evictionOf('nobody'), object: { deleteOptions: asked.deleteOptions }, ...asked.more };
      const { recorded, response } = await recordEviction({ ...webhook, changes }, request, never);
      expect(response).toMatchObject({ allowed: false, status: { code: 404, reason: 'NotFound' } });
      expect(response.status?.message).toBe('pods "nobody" not found');
      expect([recorded, grants(), cluster.writes]).toEqual([undefined, [], []]);
    },
  );
});

test('GR-04: a Pending pod that was let pass and becomes Ready counts as gone', async () => {
  const { answer, cluster, index, put, replica } = stage();
  put(pod('a-0', { phase: 'Pending', ready: false }));
  expect(await answer('a-0')).toBe('Pending');
  put(pod('a-0'));
  const known = index.budget(namespace, 'foo');
  const ledger = replica.desk.get(namespace, 'foo');
  if (known === undefined) throw new Error('no budget');
  const counted = index.suppose([{ ...known, status: readBudgetStatus(ledger?.status) }], () =>
    index.count(namespace, 'foo', cluster.clock.now()),
  );
  expect(counted?.healthy).toBe(2);
  expect(await answer('b-0')).toBe(429);
});

const pins = [
  { owner: undefined, want: { uid: 'a-0' } },
  { owner: 'StatefulSet', want: { uid: 'a-0' } },
  { owner: 'ReplicaSet', want: undefined },
  { owner: 'Job', want: undefined },
] as const;

test.each(pins)('GR-05: a pod of $owner is pinned to $want', async ({ owner, want }) => {
  const { evict, put } = stage();
  put(pod('a-0', { owner }));
  const value = want && [{ op: 'add', path: '/deleteOptions', value: { preconditions: want } }];
  expect(patchOf(await evict('a-0'))).toEqual(value);
});

test('GR-05: a Pending pod is pinned to its version where the budget does not hold, and only there', async () => {
  const holds = stage();
  holds.put(pod('a-0', { phase: 'Pending', ready: false, owner: 'ReplicaSet' }));
  expect(patchOf(await holds.evict('a-0'))).toBeUndefined();
  const broken = stage({ minAvailable: 3 });
  broken.put(pod('a-0', { phase: 'Pending', ready: false, owner: 'ReplicaSet' }));
  expect(patchOf(await broken.evict('a-0', {}))).toEqual([
    { op: 'add', path: '/deleteOptions/preconditions', value: { resourceVersion: '5' } },
  ]);
  expect(broken.grants()).toMatchObject([{ pinned: 'version', resourceVersion: '5' }]);
});

test('GR-05: what a client asks for is kept', async () => {
  const { evict, grants } = stage();
  const outcome = await evict('a-0', { preconditions: { uid: 'a-0' } });
  expect([patchOf(outcome), grants()[0]?.pinned]).toEqual([undefined, 'uid']);
  // Of a pod that is gone: the API server says so itself, and nothing is charged.
  const other = await evict('b-0', { preconditions: { uid: 'long gone' } });
  expect([other.response.allowed, other.recorded]).toEqual([true, undefined]);
});

test('GR-07: the same pod is granted again without another charge; once Ready it is judged as Ready', async () => {
  const { answer, cluster, grants, put } = stage();
  expect([await answer('a-0'), await answer('a-0'), grants().length]).toEqual(['Charged', 'Charged', 1]);
  put(pod('c-0', { phase: 'Pending', ready: false }));
  expect(await answer('c-0')).toBe('Pending');
  put(pod('c-0'));
  // With its own entry left out, b and c are up, and both must stay.
  expect(await answer('c-0')).toBe(429);
  await cluster.clock.advance(LIST_MS);
  expect(grants().map(({ kind, name }) => `${name} ${kind}`)).toEqual(['a-0 Charged', 'c-0 Pending']);
});

test('GR-07: a budget tightened between two questions binds the second', async () => {
  const { answer, cluster } = stage();
  expect(await answer('a-0')).toBe('Charged');
  const { metadata, spec, ...rest } = cluster.budget as PodDisruptionBudget;
  const tight = { ...rest, metadata: { ...metadata, generation: 2 }, spec: { ...spec, minAvailable: 3 } };
  cluster.budget = tight;
  expect(await answer('a-0')).toBe(429);
});

test.each([
  { where: 'the query', options: undefined, more: { dryRun: true } },
  { where: 'the body', options: { dryRun: ['All'] }, more: {} },
  { where: 'both', options: { dryRun: ['All'] }, more: { dryRun: true } },
])('GR-08: a dry run in $where is judged and leaves nothing behind', async ({ more, options }) => {
  const { cluster, evict, grants, put } = stage();
  put(pod('a-0', { owner: 'StatefulSet' }));
  const outcome = await evict('a-0', options, more);
  expect([outcome.response, outcome.recorded, grants(), cluster.writes]).toEqual([
    { allowed: true },
    undefined,
    [],
    [],
  ]);
});

test('GR-09: a grant that is taken back gives its place to what was there before', async () => {
  const { answer, evict, grants, replica } = stage();
  const { recorded } = await evict('a-0');
  if (recorded === undefined) throw new Error('nothing was recorded');
  await replica.desk.takeBack(recorded.ledger, recorded.grant, recorded.before);
  expect([grants(), await answer('b-0')]).toEqual([[], 'Charged']);
  const again = await evict('b-0');
  if (again.recorded === undefined) throw new Error('nothing was recorded');
  await replica.desk.takeBack(again.recorded.ledger, again.recorded.grant, again.recorded.before);
  expect(grants()).toMatchObject([{ name: 'b-0', kind: 'Charged' }]);
});

const grantAt = (at: number, more: Partial<LedgerGrant> = {}): LedgerGrant => ({
  name: 'a-0',
  uid: 'a-0',
  at: new Date(at).toISOString(),
  cost: 1,
  kind: 'Charged',
  pinned: 'uid',
  by: 'r',
  ...more,
});

const ends: readonly { what: string; grant?: Partial<LedgerGrant>; pod?: Pod; afterMs?: number; kept: boolean }[] = [
  { what: 'its pod is there', pod: pod('a-0'), kept: true },
  { what: 'its pod is going', pod: pod('a-0', { going: true }), kept: false },
  {
    what: 'a pod that was going already is going',
    grant: { kind: 'Ended' },
    pod: pod('a-0', { going: true }),
    kept: true,
  },
  { what: 'its pod is gone', kept: false },
  { what: 'another pod has the name', pod: pod('a-0', { uid: 'new' }), kept: false },
  {
    what: 'another has the name it is not pinned from',
    grant: { pinned: undefined },
    pod: pod('a-0', { uid: 'new' }),
    kept: true,
  },
  {
    what: 'the version it is pinned to is there',
    grant: { pinned: 'version', resourceVersion: '5' },
    pod: pod('a-0'),
    kept: true,
  },
  {
    what: 'the pod has another version',
    grant: { pinned: 'version', resourceVersion: '4' },
    pod: pod('a-0'),
    kept: false,
  },
  { what: 'two minutes have passed', pod: pod('a-0'), afterMs: GRANT_MS + 1, kept: false },
];

test.each(ends)('GR-10: keepGrants() keeps $kept when $what', ({ afterMs = 1000, grant, kept, pod: seen }) => {
  const given = grantAt(1_000_000, grant);
  const result = keepGrants([given], () => seen, 1_000_000 + afterMs);
  expect(result.kept.length).toBe(kept ? 1 : 0);
  expect(result.overdue.every((one) => isStillThere(one, seen))).toBe(true);
});

test('GR-19: a grant ahead of a ledger that was counted with its pod gone is not charged twice', async () => {
  const { answer, cluster, put, replica } = stage({ minAvailable: 1 });
  expect(await answer('a-0')).toBe('Charged');
  replica.showAll();
  cluster.onTheWay = [];
  // Given by the holder, not listed yet; it is carried out, and the controller counts without it and drops every entry.
  expect(await answer('b-0')).toBe('Charged');
  for (const name of ['a-0', 'b-0']) put(pod(name, { going: true }));
  const counted = { ...cluster.ledger.status, disruptionsAllowed: 0, currentHealthy: 1, grants: [], disruptedPods: {} };
  cluster.change(counted);
  replica.showAll();
  cluster.onTheWay = undefined;
  await cluster.clock.advance(LIST_MS);
  expect(cluster.ledger.status?.disruptionsAllowed).toBe(0);
  // Refused as exhausted and not as damaged: drains wait for 429 and give up on 403.
  expect(await answer('c-0')).toBe(429);
});

test('18.3: while there is no ledger nothing is granted, and the answer is 429', async () => {
  const { answer, cluster, replica } = stage();
  expect(await answer('a-0')).toBe('Charged');
  await cluster.clock.advance(60_000);
  cluster.delete();
  expect(await answer('b-0')).toBe(429);
  replica.showAll();
  expect(await answer('b-0')).toBe(429);
  const status = { ...cluster.ledger.status, grants: [] };
  const made = { metadata: { name: 'foo', namespace } };
  await replica.desk.begin(made, status, { unknown: true });
  // The grant and the hold of before are there again, and not that of nobody.
  expect(cluster.ledger.status).toMatchObject({ grants: [{ name: 'a-0' }], hold: { holder: 'r' } });
});

test('GR-17: a ledger of which nobody knows what was granted is held for a while', async () => {
  const { answer, cluster, replica } = stage();
  cluster.delete();
  const fresh = cluster.replica('new');
  await fresh.desk.begin({ metadata: { name: 'foo', namespace } }, cluster.ledger.status ?? {}, { unknown: true });
  expect(cluster.ledger.status?.hold).toMatchObject({ holder: 'unknown' });
  replica.showAll();
  const asked = answer('a-0');
  await cluster.clock.advance(3000);
  expect(await asked).toBe(429);
});

test('PB-29: with 1,999 pods noted in the budget and one grant to come, the next is told to wait', async () => {
  const { answer, cluster } = stage({ minAvailable: 0 });
  const { budget } = cluster;
  if (budget === undefined) throw new Error('no budget');
  const noted = Array.from({ length: 1999 }, (_, at): [string, string] => [`gone-${at}`, '2026-01-01T00:00:00Z']);
  cluster.budget = { ...budget, status: { ...budget.status, disruptedPods: Object.fromEntries(noted) } as never };
  expect(await answer('a-0')).toBe('Charged');
  // Kubernetes itself would answer 403, on which a drain ends.
  expect(await answer('b-0')).toBe(429);
});

test('PB-32: under AlwaysAllow and with too few gangs, a Ready pod of a broken gang goes and one of a sound gang not', async () => {
  const { answer, put } = stage({ minAvailable: 3, alwaysAllow: true });
  put(pod('a-0', { ready: false }));
  expect(await answer('a-1')).toBe('Free');
  expect(await answer('b-0')).toBe(429);
});
