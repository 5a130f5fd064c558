import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PodGroup } from '../../../src/api/generated/scheduling-v1beta1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { LWS } from '../../../src/api/lws/types.ts';
import { type GroupEviction, groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createGroupEvictionController } from '../../../src/controllers/quorate/group-eviction/index.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

const namespace = 'default';
const SHARD = 'serving.example/shard';
const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
let plane: ControlPlane;

beforeEach(async () => {
  plane = await startControlPlane({
    controllers: [
      createDisruptionController(),
      createPodUnavailableBudgetController(),
      createGroupEvictionController(),
    ],
  });
});
afterEach(() => plane.stop());

/** Two shards of three pods, each shard a PodGroup of three too. */
async function addShards(): Promise<void> {
  for (const shard of ['a', 'b']) {
    await plane.client.create(podGroupType, {
      metadata: { name: shard, namespace },
      spec: { schedulingPolicy: { gang: { minCount: 3 } } },
    });
    for (const at of [0, 1, 2]) {
      const labels = { app: 'llm', [SHARD]: shard, [LWS.name]: 'llm', [LWS.groupIndex]: shard === 'a' ? '0' : '1' };
      const made = await plane.client.create(podType, {
        metadata: { name: `${shard}${at}`, namespace, labels },
        spec: {
          nodeName: 'n',
          schedulingGroup: { podGroupName: shard },
          containers: [{ name: 'c', image: 'app:1' }],
        },
      });
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await plane.client.updateStatus(podType, { ...made, status });
    }
  }
  await plane.settle();
}

async function addUnavailableBudget(name = 'pub'): Promise<void> {
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: { app: 'llm' } },
      maxUnavailable: 1,
      podGroupPolicy: { groupLabelKey: SHARD, minReadyReplicas: 3 },
    },
  });
  await plane.settle();
}

async function addDisruptionBudget(minAvailable: number, annotations: Record<string, string> = {}): Promise<void> {
  await plane.client.create(podDisruptionBudgetType, {
    metadata: { name: 'pdb', namespace, annotations },
    spec: { selector: { matchLabels: { app: 'llm' } }, minAvailable },
  });
  await plane.settle();
}

const evictGroup = (spec: GroupEviction['spec'], options: { dryRun?: boolean } = {}): Promise<GroupEviction> =>
  plane.client.create(groupEvictionType, { metadata: { generateName: 'go-', namespace }, spec }, options);

async function refusal(request: Promise<unknown>): Promise<ApiError> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the request was granted');
}

async function going(): Promise<string[]> {
  const { items } = await plane.client.list(podType, { namespace });
  const names = items.filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? '');
  return names.sort();
}

const ledger = async () => (await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' })).status ?? {};
const pdb = async () => (await plane.client.get(podDisruptionBudgetType, { namespace, name: 'pdb' })).status ?? {};

const NAMES: [string, GroupEviction['spec']][] = [
  ['a PodGroup', { podGroupName: 'a' }],
  ['a group of a LeaderWorkerSet', { leaderWorkerSet: { name: 'llm', groupIndex: 0 } }],
  ['a label', { groupLabel: { key: SHARD, value: 'a' } }],
  ["LeaderWorkerSet's own label", { groupLabel: { key: LWS.groupIndex, value: 'llm/0' } }],
];

test.each(NAMES)('all members of a group named by %s go together, at one charge', async (_, spec) => {
  await addShards();
  await addUnavailableBudget();
  await addDisruptionBudget(1);
  expect((await pdb()).disruptionsAllowed).toBe(1);
  const made = await evictGroup(spec);
  expect(made.status).toMatchObject({
    evictedPods: ['a0', 'a1', 'a2'],
    conditions: [{ type: 'Evicted', status: 'True', reason: 'AllMembersEvicted' }],
  });
  expect(await going()).toEqual(['a0', 'a1', 'a2']);
  expect(await ledger()).toMatchObject({ unavailableAllowed: 0 });
  expect(await pdb()).toMatchObject({ disruptionsAllowed: 0 });
  const { items } = await plane.client.list(podType, { namespace });
  const marked = items.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'DisruptionTarget'));
  expect(marked).toHaveLength(3);
});

test('the next group is refused with an explanation, and nobody is charged for it', async () => {
  await addShards();
  await addUnavailableBudget();
  await evictGroup({ podGroupName: 'a' });
  await plane.settle();
  const before = await ledger();
  const error = await refusal(evictGroup({ podGroupName: 'b' }));
  expect(error.code).toBe(429);
  expect(error.message).toContain('Cannot evict group PodGroup b (3 pods): pod b0: podunavailablebudget');
  expect(error.causes.map(({ reason }) => reason)).toEqual([
    'DisruptionBudget',
    'QuorateBudget',
    'QuorateShort',
    'QuorateUnblock',
  ]);
  expect(await going()).toEqual(['a0', 'a1', 'a2']);
  expect(await ledger()).toEqual(before);
});

test('a budget over pods that has room for two lets none of three go', async () => {
  await addShards();
  await addUnavailableBudget();
  await addDisruptionBudget(4, { 'policy.quorate.dev/budget-scope': 'Pod' });
  expect((await pdb()).disruptionsAllowed).toBe(2);
  const error = await refusal(evictGroup({ podGroupName: 'a' }));
  expect(error).toMatchObject({ code: 429 });
  expect(error.causes[0]).toMatchObject({ reason: 'DisruptionBudget' });
  expect(await going()).toEqual([]);
  expect(await pdb()).toMatchObject({ disruptionsAllowed: 2 });
  expect(await ledger()).toMatchObject({ unavailableAllowed: 1 });
  expect((await ledger()).disruptedPods ?? {}).toEqual({});
});

test('a budget over pods is charged once for every member', async () => {
  await addShards();
  await addDisruptionBudget(2, { 'policy.quorate.dev/budget-scope': 'Pod' });
  await evictGroup({ podGroupName: 'a' });
  const status = await pdb();
  expect(status.disruptionsAllowed).toBe(1);
  expect(Object.keys(status.disruptedPods ?? {})).toEqual(['a0', 'a1', 'a2']);
});

test('a PodUnavailableBudget that refuses leaves the PodDisruptionBudget uncharged', async () => {
  await addShards();
  await addDisruptionBudget(1);
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 2 },
  });
  await plane.settle();
  await plane.client.patch(
    POD_UNAVAILABLE_BUDGETS,
    { namespace, name: 'pub' },
    { type: 'merge', body: { spec: { protectTotalReplicas: 6 } } },
  );
  await plane.settle();
  expect(await refusal(evictGroup({ podGroupName: 'a' }))).toMatchObject({ code: 429 });
  expect(await pdb()).toMatchObject({ disruptionsAllowed: 1 });
  expect(await going()).toEqual([]);
});

test('a dry run answers and touches nothing', async () => {
  await addShards();
  await addUnavailableBudget();
  const before = await ledger();
  const answer = await evictGroup({ podGroupName: 'a' }, { dryRun: true });
  expect(answer.status?.evictedPods).toEqual(['a0', 'a1', 'a2']);
  expect(await going()).toEqual([]);
  expect(await ledger()).toEqual(before);
  expect((await plane.client.list(groupEvictionType, { namespace })).items).toEqual([]);
  await evictGroup({ podGroupName: 'a' });
  expect(await refusal(evictGroup({ podGroupName: 'b' }, { dryRun: true }))).toMatchObject({ code: 429 });
});

test('of two groups asked for at once, mixed with single evictions, only one goes', async () => {
  await addShards();
  await addUnavailableBudget();
  await addDisruptionBudget(1);
  const one = (name: string) =>
    plane.client.createSubresource(podType, { namespace, name }, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
    });
  const requests = Array.from({ length: 32 }, (_, at) => {
    const shard = at % 2 === 0 ? 'a' : 'b';
    return at % 3 === 0 ? one(`${shard}${at % 3}`) : evictGroup({ podGroupName: shard });
  });
  await Promise.allSettled(requests);
  expect(new Set((await going()).map((name) => name[0])).size).toBe(1);
});

test('a group without pods is not found; a group must be named one way', async () => {
  expect(await refusal(evictGroup({ podGroupName: 'none' }))).toMatchObject({ code: 404 });
  expect(await refusal(evictGroup({}))).toMatchObject({ code: 422 });
  const twice = { podGroupName: 'a', groupLabel: { key: 'k', value: 'v' } };
  expect(await refusal(evictGroup(twice))).toMatchObject({ code: 422 });
});

test('a finished request is kept for its time and then removed', async () => {
  await addShards();
  const { metadata } = await evictGroup({ podGroupName: 'a', ttlSecondsAfterFinished: 60 });
  const kept = async () =>
    (await plane.client.list(groupEvictionType, { namespace })).items.map((one) => one.metadata.name);
  await plane.clock.advance(59_000);
  await plane.settle();
  expect(await kept()).toEqual([metadata.name]);
  await plane.clock.advance(2000);
  await plane.settle();
  expect(await kept()).toEqual([]);
});

test('whoever may not evict pods may not evict a group either', async () => {
  const guarded = await startControlPlane({ port: 0 });
  try {
    const rules = [{ apiGroups: ['policy.quorate.dev'], resources: ['groupevictions'], verbs: ['create'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asker' };
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await guarded.client.request('POST', `${rbac}/clusterroles`, { metadata: { name: 'asker' }, rules });
    await guarded.client.request('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'asker' },
      roleRef,
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'asker' }],
    });
    const asked = guarded.clientFor('asker').create(groupEvictionType, {
      metadata: { name: 'go', namespace },
      spec: { podGroupName: 'a' },
    });
    await expect(asked).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('it takes the right to create pods/eviction in namespace') as string,
    });
  } finally {
    await guarded.stop();
  }
});
