/** Capacity before disruption asked for by a PodUnavailableBudget: `spec.capacityPolicy`. */
import { afterEach, expect, test } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudgetSpec } from '../../../src/api/kruise/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { explainTarget } from '../../../src/tasks/why/index.ts';
import { type ControlPlane, node, startControlPlane } from '../../../src/testkit/index.ts';

const namespace = 'default';
const GPU = 'nvidia.com/gpu';
let plane: ControlPlane;
afterEach(() => plane.stop());

interface Groups {
  readonly room: number;
  readonly groups?: number;
  readonly needed?: number;
  readonly spec?: PodUnavailableBudgetSpec;
}

/** Groups of two with a GPU each on `old`, which is cordoned; `room` GPUs are free elsewhere. */
async function start({ groups = 1, needed = 2, room, spec = {} }: Groups): Promise<void> {
  plane = await startControlPlane({
    controllers: [createPodUnavailableBudgetController(), createDisruptionController()],
  });
  await addNode('old', 2 * groups, true);
  await addNode('new', room);
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: {
      selector: { matchLabels: { app: 'llm' } },
      maxUnavailable: '100%',
      podGroupPolicy: { groupLabelKey: 'group', minReadyReplicas: needed },
      capacityPolicy: { mode: 'Require' },
      ...spec,
    },
  });
  for (let group = 0; group < groups; group += 1) {
    for (const at of [0, 1]) await addPod(`g${group}p${at}`, 'old', { gpus: 1, group: `g${group}` });
  }
  await plane.settle();
}

/** New nodes are tainted until somebody finds them ready. */
async function addNode(name: string, gpus: number, unschedulable = false): Promise<void> {
  await plane.client.create(nodeType, node({ name, unschedulable, capacity: { [GPU]: String(gpus) } }));
  await plane.client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints: null } } });
}

async function addPod(name: string, nodeName: string, { gpus, group }: { gpus: number; group?: string }) {
  const resources = { requests: { [GPU]: String(gpus) }, limits: { [GPU]: String(gpus) } };
  const made = await plane.client.create(podType, {
    metadata: { name, namespace, ...(group && { labels: { app: 'llm', group } }) },
    spec: { nodeName, containers: [{ name: 'main', image: 'x', resources }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await plane.client.updateStatus(podType, { ...made, status });
}

/** Undefined when it was granted. */
async function evict(name: string, query = ''): Promise<ApiError | undefined> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await plane.client.request('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction${query}`, body);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const causesOf = (refused: ApiError | undefined) => refused?.status?.details?.causes ?? [];
const ledger = async () =>
  (await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' })).status?.disruptedPods ?? {};

test('CP-01 CP-04 a group of a PodUnavailableBudget with room for all of it goes, and all of it once it has begun', async () => {
  await start({ room: 2 });
  expect(await evict('g0p0')).toBeUndefined();
  await addPod('filler', 'new', { gpus: 2 });
  expect(await evict('g0p1')).toBeUndefined();
});

test('CP-02 without room for all of it: 429, the budget and what binds as causes, nothing recorded, and why says it', async () => {
  await start({ room: 1 });
  const refused = await evict('g0p0');
  expect(refused?.code).toBe(429);
  expect(refused?.status?.details?.retryAfterSeconds).toBe(10);
  const binds = `NoRoom: 2 × ${GPU}; 1 is free on 1 node that matches`;
  expect(causesOf(refused).slice(0, 2)).toMatchObject([
    {
      reason: 'DisruptionBudget',
      message: `podunavailablebudget.policy.kruise.io "pub" is forbidden: ${binds}`,
    },
    { reason: 'NoRoom', message: binds, field: 'spec' },
  ]);
  expect(await ledger()).toEqual({});
  const now = plane.clock.now();
  const why = await explainTarget(plane.client, { target: 'pod/g0p0', namespace, now });
  expect(why.granted).toBe(false);
  expect(why.lines.join('\n')).toContain(binds);
});

test('CP-03 a spare member of a group goes without a question', async () => {
  await start({ room: 0, needed: 1 });
  expect(await evict('g0p0')).toBeUndefined();
  expect((await evict('g0p1'))?.code).toBe(429);
});

test('CP-06 two groups and room for one: the second waits until there is room for it too', async () => {
  await start({ room: 2, groups: 2 });
  expect(await evict('g0p0')).toBeUndefined();
  expect((await evict('g1p0'))?.message).toContain('NoRoom: 2 pods');
  await addNode('newer', 2);
  expect(await evict('g1p0')).toBeUndefined();
});

test('CP-07 a dry run is told the same and keeps nothing', async () => {
  await start({ room: 2, groups: 2 });
  expect(await evict('g0p0', '?dryRun=All')).toBeUndefined();
  expect(await evict('g1p0')).toBeUndefined();
  expect((await evict('g0p0', '?dryRun=All'))?.code).toBe(429);
});

test('a budget that says Ignore, or nothing, looks for no room; any other word is refused with its field', async () => {
  await start({ room: 0, spec: { capacityPolicy: { mode: 'Ignore' } } });
  expect(await evict('g0p0')).toBeUndefined();
  const wrong = { type: 'merge', body: { spec: { capacityPolicy: { mode: 'Requires' } } } } as const;
  const patched = plane.client.patch(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' }, wrong);
  await expect(patched).rejects.toThrow('spec.capacityPolicy.mode');
});

test('deletes look for no room: what is deleted need not come back', async () => {
  await start({ room: 0, groups: 2, spec: { maxUnavailable: 1 } });
  expect((await evict('g0p0'))?.message).toContain('NoRoom');
  await plane.client.delete(podType, { namespace, name: 'g0p0' });
  expect(Object.keys(await ledger())).toEqual(['g0p0']);
});

test('a budget that lets no more groups go says so, and looks for no room', async () => {
  await start({ room: 4, groups: 2, spec: { maxUnavailable: 1 } });
  expect(await evict('g0p0')).toBeUndefined();
  expect(Object.keys(await ledger())).toEqual(['g0p0']);
  const refused = await evict('g1p0');
  expect(causesOf(refused).map(({ reason }) => reason)).not.toContain('NoRoom');
  expect(refused?.message).toContain('would make group');
});

test('under budgets of both kinds that ask for room, the places are promised once', async () => {
  await start({ room: 2 });
  await plane.client.create(podDisruptionBudgetType, {
    metadata: { name: 'pdb', namespace, annotations: { 'policy.quorate.dev/capacity': 'Require' } },
    spec: { selector: { matchLabels: { app: 'llm' } }, minAvailable: 0 },
  });
  await plane.settle();
  expect(await evict('g0p0')).toBeUndefined();
  expect(await evict('g0p1')).toBeUndefined();
});
