/** Cases of the specification that need the server and the controller together. */
import { afterEach, expect, test } from 'vitest';
import type { OwnerReference } from '../../../src/api/generated/meta-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudgetSpec } from '../../../src/api/kruise/types.ts';
import { leaderWorkerSetType, LWS } from '../../../src/api/lws/types.ts';
import { deploymentType, podType, replicaSetType } from '../../../src/api/resource-types.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { codeOf, evict as askEviction } from '../../shared/answers.ts';

const namespace = 'default';
let plane: ControlPlane;
afterEach(() => plane.stop());

async function start(): Promise<void> {
  plane = await startControlPlane({
    controllers: [createPodUnavailableBudgetController()],
    gates: new FeatureGates({ PodUnavailableBudgetUpdateGate: true }),
  });
}

interface PodOptions {
  readonly labels?: Record<string, string>;
  readonly ready?: boolean;
  readonly owner?: OwnerReference;
}

async function addPod(name: string, { labels = {}, owner, ready = true }: PodOptions = {}): Promise<void> {
  const made = await plane.client.create(podType, {
    metadata: { name, namespace, labels: { app: 'llm', ...labels }, ...(owner && { ownerReferences: [owner] }) },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'app:1' }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
  await plane.client.updateStatus(podType, { ...made, status });
}

/** Pods as a LeaderWorkerSet of three would mark them, without one that makes them. */
async function addGroup(group: number, notReady: readonly number[] = []): Promise<void> {
  for (const worker of [0, 1, 2]) {
    const labels = { [LWS.name]: 'llm', [LWS.groupIndex]: String(group) };
    const name = worker === 0 ? `llm-${group}` : `llm-${group}-${worker}`;
    await addPod(name, { labels, ready: !notReady.includes(worker) });
  }
}

const addSet = () =>
  plane.client.create(leaderWorkerSetType, {
    metadata: { name: 'llm', namespace },
    spec: { replicas: 3, leaderWorkerTemplate: { size: 3, workerTemplate: { spec: { containers: [] } } } },
  });

async function numbers(spec: PodUnavailableBudgetSpec): Promise<string> {
  const target = spec.targetRef === undefined ? { selector: { matchLabels: { app: 'llm' } } } : {};
  await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'pub', namespace },
    spec: { maxUnavailable: 1, ...target, ...spec },
  });
  await plane.settle();
  return published();
}

async function published(): Promise<string> {
  const { status = {} } = await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' });
  const { currentAvailable, desiredAvailable, totalReplicas, unavailableAllowed } = status;
  return `${totalReplicas}/${desiredAvailable}/${currentAvailable}/${unavailableAllowed}`;
}

const evict = (name: string): Promise<number> => codeOf(askEviction(plane.client, namespace, name), 201);

const byIndex = (minReadyReplicas: number) => ({ podGroupPolicy: { groupLabelKey: LWS.groupIndex, minReadyReplicas } });

test('C8 a target scaled to nothing has nothing to guard, whatever still runs', async () => {
  await start();
  const template = { metadata: { labels: { app: 'llm' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } };
  const selector = { matchLabels: { app: 'llm' } };
  const controller = true;
  const deployment = await plane.client.create(deploymentType, {
    metadata: { name: 'web', namespace },
    spec: { replicas: 0, selector, template },
  });
  const set = await plane.client.create(replicaSetType, {
    metadata: {
      name: 'web-1',
      namespace,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.metadata.uid ?? '', controller },
      ],
    },
    spec: { replicas: 0, selector, template },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid ?? '', controller };
  for (let at = 0; at < 10; at += 1) await addPod(`web-${at}`, { owner });
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  expect(await numbers({ targetRef, maxUnavailable: '30%' })).toBe('0/0/0/0');
});

test('W17 an ephemeral container may be added to a pod under a budget that allows nothing', async () => {
  await start();
  await addPod('p');
  expect(await numbers({ maxUnavailable: 0, protectTotalReplicas: 1 })).toBe('1/1/1/0');
  const body = { spec: { ephemeralContainers: [{ name: 'look', image: 'tools' }] } };
  const patched = await plane.client.patch(
    podType,
    { namespace, name: 'p' },
    { type: 'strategic', body },
    { subresource: 'ephemeralcontainers' },
  );
  expect(patched.spec?.ephemeralContainers?.[0]?.name).toBe('look');
  expect(await published()).toBe('1/1/1/0');
});

test('G2 G3 a worker that is not ready takes its group down, unless two are enough', async () => {
  await start();
  await addSet();
  for (const group of [0, 1, 2]) await addGroup(group, group === 1 ? [2] : []);
  expect(await numbers(byIndex(3))).toBe('3/2/2/0');
  await plane.client.delete(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' });
  expect(await numbers(byIndex(2))).toBe('3/2/3/1');
});

test('G4 H7 a group without pods is down', async () => {
  await start();
  await addSet();
  for (const group of [0, 1]) await addGroup(group);
  expect(await numbers(byIndex(3))).toBe('3/2/2/0');
  expect(await evict('llm-1-1')).toBe(429);
});

test('G5 G6 without a set the groups seen count, unless the budget says how many there are', async () => {
  await start();
  for (const [group, shard] of [
    [0, 'a'],
    [1, 'b'],
  ] as const)
    for (const at of [0, 1, 2]) await addPod(`${shard}${group}-${at}`, { labels: { shard } });
  const podGroupPolicy = { groupLabelKey: 'shard', minReadyReplicas: 3 };
  expect(await numbers({ podGroupPolicy })).toBe('2/1/2/1');
  await plane.client.delete(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' });
  expect(await numbers({ podGroupPolicy, protectTotalReplicas: 3 })).toBe('3/2/2/0');
});

test('G18 a LeaderWorkerSet as target covers its workers too, and its replicas are the groups', async () => {
  await start();
  await addSet();
  for (const group of [0, 1, 2]) await addGroup(group);
  const targetRef = { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet', name: 'llm' };
  expect(await numbers({ targetRef, ...byIndex(3) })).toBe('3/2/3/1');
  expect(await evict('llm-0-2')).toBe(201);
  expect(await evict('llm-1-1')).toBe(429);
});

test('18.15: G17 H16 where no group can reach the threshold, pods are guarded one by one from the start, and it is said', async () => {
  await start();
  const set = await plane.client.create(replicaSetType, {
    metadata: { name: 'llm', namespace },
    spec: {
      replicas: 9,
      selector: { matchLabels: { app: 'llm' } },
      template: { metadata: { labels: { app: 'llm' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } },
    },
  });
  const { uid = '' } = set.metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'llm', uid, controller: true };
  for (const shard of ['a', 'b', 'c'])
    for (const at of [0, 1, 2]) await addPod(`${shard}${at}`, { labels: { shard }, owner });
  await numbers({ podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 5 } });
  const impossible = async () => {
    const { status } = await plane.client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name: 'pub' });
    return status?.conditions?.find(({ type }) => type === 'MinReadyReplicasImpossible');
  };
  expect(await evict('a0')).toBe(201);
  expect(await evict('b0')).toBe(429);
  await plane.clock.advance(6000);
  await plane.settle();
  expect(await impossible()).toMatchObject({ status: 'True', reason: 'NoGroupReachesThreshold' });
  expect(await evict('b0')).toBe(429);
});
