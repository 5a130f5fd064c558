import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import {
  POD_UNAVAILABLE_BUDGETS,
  type PodUnavailableBudget,
  type PodUnavailableBudgetStatus,
} from '../../api/kruise/types.ts';
import { namespaceType, podType } from '../../api/resource-types.ts';
import { ApiError, type Client, createClient, ManualClock, settle } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { addEviction, builtinResources, createApiServer, inProcessTransport, systemAdmin } from '../index.ts';
import { ownResources } from '../own-kinds/resources.ts';
import type { RefusedRequest } from '../../decisions/unavailability/index.ts';
import { createUnavailability, type Unavailability } from './index.ts';

const KEY = 'leaderworkerset.sigs.k8s.io/group-index';
let client: Client;
let clock: ManualClock;
let close: () => void;
let refused: RefusedRequest[];

beforeEach(async () => {
  clock = new ManualClock();
  refused = [];
  let guards: Unavailability | undefined;
  const server = createApiServer({
    store: createMemoryStore({ now: () => clock.now() }),
    resources: [...builtinResources(), ...ownResources()],
    clock,
    admission(context) {
      guards = createUnavailability(context, {
        gates: { deletes: true, updates: true, verticalScaling: false },
        refused: (one) => refused.push(one),
      });
      return guards.plugins;
    },
  });
  addEviction(server.context, { guards: guards === undefined ? [] : [guards.guard] });
  client = createClient({ transport: inProcessTransport(server.handle, systemAdmin), userAgent: 'test' });
  close = () => server.close();
  await client.create(namespaceType, { metadata: { name: 'default' } });
});
afterEach(() => close());

async function addPod(name: string, group: number): Promise<void> {
  await client.create(podType, {
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'llm', 'leaderworkerset.sigs.k8s.io/name': 'llm', [KEY]: String(group) },
    },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'app:1' }] },
  });
  const stored = await client.get(podType, { namespace: 'default', name });
  await client.updateStatus(podType, {
    ...stored,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

async function addShards(): Promise<void> {
  for (const group of [0, 1, 2])
    for (const worker of [0, 1, 2]) await addPod(worker === 0 ? `llm-${group}` : `llm-${group}-${worker}`, group);
}

async function addBudget(spec: object, status: PodUnavailableBudgetStatus): Promise<void> {
  const created = await client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 1, ...spec },
  });
  await client.updateStatus(POD_UNAVAILABLE_BUDGETS, { ...created, status: { observedGeneration: 1, ...status } });
}

const shards = { podGroupPolicy: { groupLabelKey: KEY, minReadyReplicas: 3 } };
const whole = { totalReplicas: 3, desiredAvailable: 2, currentAvailable: 3, unavailableAllowed: 1 };
const budget = (): Promise<PodUnavailableBudget> =>
  client.get(POD_UNAVAILABLE_BUDGETS, { namespace: 'default', name: 'pub' });
const evict = (name: string, more: object = {}): Promise<unknown> =>
  client.createSubresource(podType, { namespace: 'default', name }, 'eviction', {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: 'default' },
    ...more,
  });
const outcome = async (request: Promise<unknown>): Promise<number | 'ok'> =>
  request.then(
    () => 'ok' as const,
    (error: unknown) => (error instanceof ApiError ? error.code : -1),
  );

test('H1 H2 H4 evictions count shards: one may go, its rest follows, the next is refused with 429', async () => {
  await addShards();
  await addBudget(shards, whole);
  expect(await outcome(evict('llm-0-1'))).toBe('ok');
  expect(await outcome(evict('llm-0-2'))).toBe('ok');
  expect(await outcome(evict('llm-1'))).toBe(429);
  const { status } = await budget();
  expect(status?.unavailableAllowed).toBe(0);
  expect(Object.keys(status?.disruptedPods ?? {})).toEqual(['llm-0-1', 'llm-0-2']);
  expect(refused).toMatchObject([{ operation: 'EVICT', budgets: [{ name: 'pub', constraint: 'maxUnavailable' }] }]);
});

test('H3 W3 plain deletes are guarded too: free in a shard that is down, 403 elsewhere', async () => {
  await addShards();
  await addBudget(shards, whole);
  await evict('llm-0-1');
  expect(await outcome(client.delete(podType, { namespace: 'default', name: 'llm-0' }))).toBe('ok');
  expect(await outcome(client.delete(podType, { namespace: 'default', name: 'llm-1' }))).toBe(403);
});

test('H10 of two concurrent evictions in two shards exactly one passes; H11 in one shard both do', async () => {
  await addShards();
  await addBudget(shards, whole);
  const results = await Promise.all([outcome(evict('llm-0-1')), outcome(evict('llm-1-1'))]);
  expect(results.toSorted()).toEqual([429, 'ok']);
  const down = results[0] === 'ok' ? 0 : 1;
  const rest = [outcome(evict(`llm-${down}-2`)), outcome(evict(`llm-${down}`))];
  expect(await Promise.all(rest)).toEqual(['ok', 'ok']);
});

test('H12 W4 dry runs decide and leave nothing behind', async () => {
  await addShards();
  await addBudget(shards, whole);
  expect(await outcome(evict('llm-0-1', { deleteOptions: { dryRun: ['All'] } }))).toBe('ok');
  expect((await budget()).status).toMatchObject(whole);
  expect((await budget()).status?.disruptedPods).toBeUndefined();
});

test('H14 W12 an image change is an update that is charged; H15 leaving the shard is guarded', async () => {
  await addShards();
  await addBudget(shards, whole);
  const image = { type: 'strategic' as const, body: { spec: { containers: [{ name: 'c', image: 'app:2' }] } } };
  await client.patch(podType, { namespace: 'default', name: 'llm-0-1' }, image);
  expect((await budget()).status?.unavailablePods).toHaveProperty('llm-0-1');
  const leave = { type: 'merge' as const, body: { metadata: { labels: { [KEY]: null } } } };
  expect(await outcome(client.patch(podType, { namespace: 'default', name: 'llm-1-1' }, leave))).toBe(403);
});

test('W13 metadata may change freely', async () => {
  await addShards();
  await addBudget(shards, { ...whole, unavailableAllowed: 0, currentAvailable: 2 });
  const label = { type: 'merge' as const, body: { metadata: { labels: { note: 'x' } } } };
  expect(await outcome(client.patch(podType, { namespace: 'default', name: 'llm-1-1' }, label))).toBe('ok');
});

test('W1 W2 W10 without a policy pods count', async () => {
  await addShards();
  await addBudget({}, { totalReplicas: 9, desiredAvailable: 8, currentAvailable: 9, unavailableAllowed: 1 });
  expect(await outcome(evict('llm-0-1'))).toBe('ok');
  expect(await outcome(evict('llm-0-2'))).toBe(429);
});

test('a pod made under a budget says so from the start; one that names a budget already keeps it', async () => {
  await addBudget({}, {});
  await addPod('llm-0', 0);
  const related = async (name: string) => {
    const { annotations } = (await client.get(podType, { namespace: 'default', name })).metadata;
    return [annotations?.['pub.kruise.io/related-pub'], annotations?.['kruise.io/related-pub']];
  };
  expect(await related('llm-0')).toEqual(['pub', 'pub']);
  const own = { name: 'own', namespace: 'default', labels: { app: 'llm' } };
  await client.create(podType, {
    metadata: { ...own, annotations: { 'pub.kruise.io/related-pub': 'mine' } },
    spec: { containers: [{ name: 'c', image: 'app:1' }] },
  });
  expect(await related('own')).toEqual(['mine', undefined]);
  await client.create(podType, {
    metadata: { ...own, name: 'other', labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'app:1' }] },
  });
  expect(await related('other')).toEqual([undefined, undefined]);
});

test('a budget is refused with 400 and the path of what is wrong', async () => {
  const create = (spec: object): Promise<unknown> =>
    client.create(POD_UNAVAILABLE_BUDGETS, {
      metadata: { name: 'pub', namespace: 'default' },
      spec,
    } as PodUnavailableBudget);
  const error = (await create({ maxUnavailable: '120%', selector: { matchLabels: { a: 'b' } } }).catch(
    (one: unknown) => one,
  )) as ApiError;
  expect(error.code).toBe(400);
  expect(error.causes).toMatchObject([{ field: 'spec.maxUnavailable' }]);
  await addBudget({}, {});
  const second = client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'other', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 1 },
  });
  await expect(second).rejects.toThrow('in conflict with other PodUnavailableBudget pub');
});

test('v1alpha1 spells operations as an annotation and keeps what it cannot spell', async () => {
  const alpha = { ...POD_UNAVAILABLE_BUDGETS, version: 'v1alpha1' };
  await client.create(alpha, {
    metadata: {
      name: 'pub',
      namespace: 'default',
      annotations: { 'kruise.io/pub-protect-operations': 'EVICT, DELETE' },
    },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 1 },
  });
  expect((await budget()).spec?.protectOperations).toEqual(['EVICT', 'DELETE']);
  const beta = await budget();
  await client.update(POD_UNAVAILABLE_BUDGETS, {
    ...beta,
    spec: { ...beta.spec, ignoredPodSelector: { matchLabels: { c: 'd' } } },
  });
  const read = await client.get(alpha, { namespace: 'default', name: 'pub' });
  await client.update(alpha, { ...read, spec: { ...read.spec, maxUnavailable: 2 } });
  expect((await budget()).spec).toMatchObject({ maxUnavailable: 2, ignoredPodSelector: { matchLabels: { c: 'd' } } });
});

test('64 clients, three operations mixed: never more shards down than allowed', async () => {
  await addShards();
  await addBudget(shards, whole);
  const names = [0, 1, 2].flatMap((group) => [`llm-${group}`, `llm-${group}-1`, `llm-${group}-2`]);
  const requests = Array.from({ length: 64 }, (_, at) => {
    const name = names[(at * 7) % names.length] as string;
    if (at % 3 === 0) return outcome(evict(name));
    if (at % 3 === 1) return outcome(client.delete(podType, { namespace: 'default', name }));
    return outcome(
      client.patch(
        podType,
        { namespace: 'default', name },
        { type: 'strategic', body: { spec: { containers: [{ name: 'c', image: `app:${at + 2}` }] } } },
      ),
    );
  });
  const results = await Promise.all(requests);
  await settle();
  expect(results).toContain('ok');
  const touched = { ...(await budget()).status?.disruptedPods, ...(await budget()).status?.unavailablePods };
  const shardsDown = new Set(Object.keys(touched).map((name) => name.split('-')[1]));
  expect(shardsDown.size).toBe(1);
  const { items } = await client.list<Pod>(podType, { namespace: 'default' });
  const going = new Set(
    items.filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.labels?.[KEY]),
  );
  expect(going.size).toBeLessThanOrEqual(1);
});
