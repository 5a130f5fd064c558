/** What the record keeps: refusals, times, what a death leaves, and its bounds. */
import { afterEach, expect, test } from 'vitest';
import { disruptionHistoryType } from '../../../src/api/quorate/disruption-history.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { askHistory } from '../../../src/decisions/history/index.ts';
import { ManualClock } from '../../../src/machinery/runtime/index.ts';
import { createMemoryStore } from '../../../src/storage/index.ts';
import { podDisruptionBudget } from '../../../src/testkit/index.ts';
import { namespace, Recorded } from './fixture.ts';

let recorded: Recorded;
afterEach(() => recorded.stop());

test('RC-02: forty refusals in five minutes are one entry', async () => {
  recorded = await Recorded.start(2);
  await recorded.fleet('web', 2);
  const spec = { minAvailable: 2, selector: {} };
  await recorded.client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'all', spec }));
  await recorded.pass(2);
  const pod = await recorded.one('web');
  for (let time = 0; time < 40; time += 1) {
    expect(await recorded.evict(pod)).toBe(429);
    await recorded.pass(7);
  }
  const entries = await recorded.entries();
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({
    outcome: 'Refused',
    way: 'Eviction',
    who: 'ada',
    repeats: 40,
    reason: 'DisruptionBudget',
    budgets: ['all'],
    pods: [{ name: pod.metadata.name }],
  });
});

test('21.5: who was let pass and whose pod stayed for all that is Expired', async () => {
  recorded = await Recorded.start(2);
  await recorded.fleet('web', 1);
  const pod = await recorded.one('web');
  const { name = '', uid = '' } = pod.metadata;
  const dryRun = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  await recorded.client.request('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction?dryRun=All`, dryRun);
  await recorded.pass(400);
  expect(await recorded.entries()).toEqual([]);
  expect((await recorded.one('web')).metadata.uid).toBe(uid);
});

test('RC-04: a further cause while a group is down is an entry during the first, and its seconds count once', async () => {
  recorded = await Recorded.start(4);
  await recorded.world.gangs(1, { size: 4, prefix: 'gang' });
  const [first, second] = await recorded.ready('gang0');
  if (first === undefined || second === undefined) throw new Error('the gang is not there');
  expect(await recorded.evict(first, 'ada')).toBe(201);
  await recorded.pass(1);
  await recorded.plane.clientFor('bob').delete(podType, { namespace, name: second.metadata.name ?? '' });
  await recorded.pass(30);
  const [one, other, ...rest] = await recorded.entries();
  expect(rest).toEqual([]);
  expect(one).toMatchObject({ way: 'Eviction', who: 'ada', end: 'Whole' });
  expect(other).toMatchObject({ way: 'Delete', who: 'bob', during: one?.id, groupSeconds: 0, end: 'Whole' });
  expect(one?.groupSeconds).toBeGreaterThan(0);
  expect(one?.podSeconds).toBeGreaterThan(one?.groupSeconds ?? 0);
});

/** Two pods are evicted, the second a moment before the process dies; another goes on 60 s later. */
async function dieAndGoOn({ forget }: { readonly forget: boolean }) {
  const clock = new ManualClock();
  const store = createMemoryStore({ now: () => clock.now() });
  recorded = await Recorded.on(store, { clock, nodes: 3, seed: 1 });
  await recorded.pass(2);
  await recorded.fleet('web', 4, { stopDelay: '20s' });
  await recorded.pass(10);
  const [before, during] = await recorded.ready('web');
  if (before === undefined || during === undefined) throw new Error('the pods are not there');
  expect(await recorded.evict(before)).toBe(201);
  await recorded.pass(2);
  expect(await recorded.evict(during)).toBe(201);
  await recorded.stop();
  if (forget) store.compact(store.revision);
  recorded = await Recorded.on(store, { clock, nodes: 3, seed: 2 });
  await recorded.pass(60);
  const went = [before, during].map(({ metadata }) => metadata.uid ?? '').sort();
  return { went, store, entries: await recorded.entries() };
}

test('RC-05: what goes while nobody keeps the record is entered by who keeps it next, once', async () => {
  const { entries, store, went } = await dieAndGoOn({ forget: false });
  expect(entries.flatMap(({ pods }) => pods.map(({ uid }) => uid)).sort()).toEqual(went);
  for (const { end, way } of entries) expect([way, end]).toEqual(['Eviction', 'Whole']);
  await store.close();
});

test('RC-05: likewise where the API server has forgotten what was before', async () => {
  const { entries, store, went } = await dieAndGoOn({ forget: true });
  expect(entries.flatMap(({ pods }) => pods.map(({ uid }) => uid)).sort()).toEqual(went);
  await store.close();
});

test.each([0, 300, 900, 1100, 1300, 2000])(
  'RC-05: everything dies %i ms after an eviction, and with it what the API server remembers: the pod is entered once',
  async (ms) => {
    const clock = new ManualClock();
    const store = createMemoryStore({ now: () => clock.now() });
    recorded = await Recorded.on(store, { clock, nodes: 2, seed: 1 });
    // It is gone after a second, which is as long as entries wait to be written.
    await recorded.fleet('web', 2, { stopDelay: '1s' });
    await recorded.pass(10);
    const pod = await recorded.one('web');
    expect(await recorded.evict(pod)).toBe(201);
    await clock.advance(ms);
    await recorded.stop();
    store.compact(store.revision);
    recorded = await Recorded.on(store, { clock, nodes: 2, seed: 2 });
    await recorded.pass(60);
    const entered = (await recorded.entries()).flatMap(({ pods }) => pods.map(({ uid }) => uid));
    expect(entered).toEqual([pod.metadata.uid]);
    await store.close();
  },
);

test('RC-05: a pod that is gone at once in the last moment of an embedded host may be missing, and that is said', async () => {
  const clock = new ManualClock();
  const store = createMemoryStore({ now: () => clock.now() });
  recorded = await Recorded.on(store, { clock, nodes: 2, seed: 1 });
  await recorded.fleet('web', 2);
  await recorded.pass(10);
  const { name = '' } = (await recorded.one('web')).metadata;
  const begun = clock.now();
  await recorded.client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0 });
  await recorded.stop();
  store.compact(store.revision);
  recorded = await Recorded.on(store, { clock, nodes: 2, seed: 2 });
  await recorded.pass(60);
  const entered = (await recorded.entries()).flatMap(({ pods }) => pods.map((pod) => pod.name));
  const gaps = (await recorded.histories()).flatMap(({ spec }) => spec?.gaps ?? []);
  const isTold = gaps.some(({ from, to }) => Date.parse(from) <= begun && begun <= Date.parse(to));
  expect([entered.includes(name), isTold]).toEqual([false, true]);
  await store.close();
});

test('RC-06: the oldest days go where there is more than is kept, and it is known how far back the rest goes', async () => {
  const clock = new ManualClock();
  const store = createMemoryStore({ now: () => clock.now() });
  recorded = await Recorded.on(store, { clock, seed: 1 });
  const dayBefore = (days: number): Date => new Date(clock.now() - days * 24 * 60 * 60_000);
  for (const days of [40, 30, 29]) {
    const name = `${dayBefore(days).toISOString().slice(0, 10).replaceAll('-', '')}-leader-00`;
    const spec = { writer: 'leader', entries: [entryOf(days, dayBefore(days))] };
    await recorded.client.create(disruptionHistoryType, { metadata: { namespace, name }, spec });
  }
  await recorded.stop();
  recorded = await Recorded.on(store, { clock, seed: 2 });
  await recorded.pass(2);
  expect(askHistory(await recorded.histories(), {}).from).toBe(dayBefore(29).toISOString().slice(0, 10));
  await store.close();
});

function entryOf(ago: number, at: Date) {
  return {
    id: `old-${ago}`,
    at: at.toISOString().replace('Z', '000Z'),
    outcome: 'Seen' as const,
    way: 'Unknown' as const,
    voluntary: false,
    namespace,
    group: 'default/Pod/old',
    pods: [],
    podsTotal: 0,
  };
}
