import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { codeOf, evict } from '../../shared/answers.ts';

const namespace = 'default';
const CLIENTS = 64;
const SHARDS = 6;
const SIZE = 3;
const ALLOWED = 2;
let plane: ControlPlane;
afterEach(() => plane.stop());

async function addPod(name: string): Promise<void> {
  const made = await plane.client.create(podType, {
    metadata: { name, namespace, labels: { app: 'llm', shard: name.split('-')[0] as string } },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '1' } } }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await plane.client.updateStatus(podType, { ...made, status });
}

/** Shards under a PodUnavailableBudget that counts them and a PodDisruptionBudget that counts their pods. */
async function startFleet(minAvailable: number, debounceMs = 0): Promise<string[]> {
  plane = await startControlPlane({
    controllers: [createDisruptionController({ debounceMs }), createPodUnavailableBudgetController({ debounceMs })],
    gates: new FeatureGates({ PodUnavailableBudgetUpdateGate: true }),
  });
  const names = Array.from({ length: SHARDS * SIZE }, (_, at) => `s${Math.floor(at / SIZE)}-${at % SIZE}`);
  for (const name of names) await addPod(name);
  const selector = { matchLabels: { app: 'llm' } };
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: {
      selector,
      maxUnavailable: ALLOWED,
      protectTotalReplicas: SHARDS,
      protectOperations: ['DELETE', 'UPDATE', 'EVICT', 'RESIZE'],
      podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: SIZE },
    },
  });
  await plane.client.create(podDisruptionBudgetType, {
    metadata: { name: 'pdb', namespace },
    spec: { selector, minAvailable },
  });
  await plane.settle();
  return names;
}

const key = (name: string) => ({ namespace, name });
const OPERATIONS: readonly ((name: string, at: number) => Promise<number>)[] = [
  (name) => codeOf(evict(plane.client, namespace, name)),
  (name) => codeOf(plane.client.delete(podType, key(name))),
  (name, at) => {
    const body = { spec: { containers: [{ name: 'c', image: `app:${at + 2}` }] } };
    return codeOf(plane.client.patch(podType, key(name), { type: 'strategic', body }));
  },
  (name, at) => {
    const body = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: `${at + 2}` } } }] } };
    return codeOf(plane.client.patch(podType, key(name), { type: 'strategic', body }, { subresource: 'resize' }));
  },
];

const budget = async () => (await plane.client.get(POD_UNAVAILABLE_BUDGETS, key('pub'))).status ?? {};
const pods = async (): Promise<Pod[]> => (await plane.client.list(podType, { namespace })).items;

/** Shards that miss a pod, or have one that goes or was granted to be disturbed. */
async function shardsDown(names: readonly string[]): Promise<Set<string>> {
  const { disruptedPods = {}, unavailablePods = {} } = await budget();
  const staying = new Set(
    (await pods()).filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? ''),
  );
  const disturbed = names.filter((name) => !staying.has(name) || name in disruptedPods || name in unavailablePods);
  return new Set(disturbed.map((name) => name.split('-')[0] as string));
}

test.each([
  ['write at once', 0],
  ['gather first', 100],
])(
  '64 clients that evict, delete, update and resize never have more shards down than two budgets allow that %s',
  async (_, debounceMs) => {
    const names = await startFleet(SHARDS * SIZE - ALLOWED * SIZE, debounceMs);
    const random = seededRandom(7);
    const codes: number[] = [];
    const client = async (at: number): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) {
        const name = names[Math.floor(random() * names.length)] as string;
        const operation = OPERATIONS[Math.floor(random() * OPERATIONS.length)] as (typeof OPERATIONS)[number];
        codes.push(await operation(name, at * 4 + turn));
        expect((await shardsDown(names)).size).toBeLessThanOrEqual(ALLOWED);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
    await plane.settle();
    const down = await shardsDown(names);
    expect(down.size).toBe(ALLOWED);
    expect(codes).toContain(200);
    expect(codes.filter((code) => code === 429 || code === 403).length).toBeGreaterThan(20);
  },
);

test('30 s after requests were refused no charge is left of them', async () => {
  const names = await startFleet(SHARDS * SIZE);
  const before = { unavailable: (await budget()).unavailableAllowed, pods: (await pods()).length };
  const evict = OPERATIONS[0] as (typeof OPERATIONS)[number];
  const codes = await Promise.all(names.flatMap((name) => [evict(name, 0), evict(name, 1), evict(name, 2)]));
  expect(new Set(codes)).toEqual(new Set([429]));
  // The other budget refused every one of them: this one was never charged.
  expect((await budget()).disruptedPods ?? {}).toEqual({});
  await plane.clock.advance(30_000);
  await plane.settle();
  expect(await budget()).toMatchObject({ unavailableAllowed: before.unavailable });
  expect((await plane.client.get(podDisruptionBudgetType, key('pdb'))).status?.disruptedPods ?? {}).toEqual({});
  expect((await pods()).length).toBe(before.pods);
});

test('W25 H22 30 s after a granted update settled, and refused ones beside it, everything may go again', async () => {
  const names = await startFleet(SHARDS * SIZE - ALLOWED * SIZE);
  const update = OPERATIONS[2] as (typeof OPERATIONS)[number];
  const codes = await Promise.all(names.map((name, at) => update(name, at)));
  expect(codes.filter((code) => code === 200)).toHaveLength(ALLOWED * SIZE);
  expect(codes.filter((code) => code === 403)).toHaveLength((SHARDS - ALLOWED) * SIZE);
  await plane.settle();
  expect(await budget()).toMatchObject({ unavailableAllowed: 0 });
  for (let second = 0; second < 30; second += 5) {
    await plane.clock.advance(5000);
    await plane.settle();
  }
  const { disruptedPods = {}, unavailableAllowed, unavailablePods = {} } = await budget();
  expect({ disruptedPods, unavailablePods, unavailableAllowed }).toEqual({
    disruptedPods: {},
    unavailablePods: {},
    unavailableAllowed: ALLOWED,
  });
});

test('a budget that gathers is charged at once, counts evictions a moment later, and everything else at once', async () => {
  const names = await startFleet(0, 100);
  // A quiet time: what the controller itself has just written counts as a beginning, too.
  await plane.clock.advance(1000);
  const evict = OPERATIONS[0] as (typeof OPERATIONS)[number];
  expect(await Promise.all(names.slice(0, ALLOWED * SIZE).map((name) => evict(name, 0)))).not.toContain(429);
  expect(await evict(names.at(-1) as string, 0)).toBe(429);
  await plane.settle();
  expect(await budget()).toMatchObject({ unavailableAllowed: 0, currentAvailable: SHARDS });

  await plane.clock.advance(100);
  await plane.settle();
  const counted = await budget();
  expect(counted).toMatchObject({ unavailableAllowed: 0, currentAvailable: SHARDS - ALLOWED });
  expect(counted.disruptedPods).toBeUndefined();

  const last = await plane.client.get(podType, key(names.at(-1) as string));
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
  await plane.client.updateStatus(podType, { ...last, status });
  await plane.settle();
  expect(await budget()).toMatchObject({ currentAvailable: SHARDS - ALLOWED - 1 });
});
