import { afterEach, expect, test } from 'vitest';
import { isPodReady } from '../../src/api/core/pod-state.ts';
import type { Event, Pod } from '../../src/api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import type { PodGroup, PriorityClass, Workload } from '../../src/api/generated/scheduling-v1beta1.ts';
import { type LeaderWorkerSet, leaderWorkerSetType, LWS } from '../../src/api/lws/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { planClusterDrain } from '../../src/tasks/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

const workloadType = builtinType('Workload', 'scheduling.k8s.io') as ResourceType<Workload>;
const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
const priorityClassType = builtinType('PriorityClass', 'scheduling.k8s.io') as ResourceType<PriorityClass>;
const eventType = builtinType('Event', '') as ResourceType<Event>;
const SECOND = 1000;
const namespace = 'default';
const key = { namespace, name: 'llm' };

let plane: ControlPlane;
afterEach(async () => {
  await plane.stop();
});

async function begin(nodes: number): Promise<void> {
  plane = await startControlPlane({ controllers: true, nodes });
  await plane.clock.advance(5 * SECOND);
}

const template = (image: string, cpu: string) => ({
  metadata: { labels: { app: 'llm' } },
  spec: { containers: [{ name: 'c', image, resources: { requests: { cpu } } }] },
});

interface Shape {
  readonly replicas?: number;
  readonly cpu?: string;
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<NonNullable<LeaderWorkerSet['spec']>>;
}

const set = ({ annotations = {}, cpu = '1', replicas = 2, spec }: Shape = {}): LeaderWorkerSet => ({
  metadata: { ...key, annotations },
  spec: {
    replicas,
    scheduling: {},
    leaderWorkerTemplate: { size: 3, workerTemplate: template('app:1', cpu) },
    ...spec,
  },
});

const pods = async (): Promise<Pod[]> => (await plane.client.list(podType, { namespace })).items;
const groups = async (): Promise<PodGroup[]> => (await plane.client.list(podGroupType, { namespace })).items;
const workloads = async (): Promise<Workload[]> => (await plane.client.list(workloadType, { namespace })).items;
const patch = (body: object) => plane.client.patch(leaderWorkerSetType, key, { type: 'merge', body });
const indexOf = ({ metadata }: Pod | PodGroup): string => metadata.labels?.[LWS.groupIndex] ?? '';
const placed = async (): Promise<string[]> =>
  (await pods())
    .filter(({ spec }) => spec?.nodeName)
    .map(indexOf)
    .sort();

/** The PodGroup of every group, by index; every member names it, and nobody else does. */
async function gangs(): Promise<Map<string, string>> {
  const names = new Map((await groups()).map((group) => [indexOf(group), group.metadata.name ?? '']));
  for (const pod of await pods()) expect(pod.spec?.schedulingGroup?.podGroupName).toBe(names.get(indexOf(pod)));
  return names;
}

test('a set of gangs has one Workload and a PodGroup for every group, which come and go with scaling', async () => {
  await begin(4);
  const { client, clock } = plane;
  const lws = await client.create(leaderWorkerSetType, set());
  await clock.advance(10 * SECOND);
  expect(await placed()).toEqual(['0', '0', '0', '1', '1', '1']);
  const [workload] = await workloads();
  expect(workload?.metadata.ownerReferences).toMatchObject([{ uid: lws.metadata.uid, controller: true }]);
  expect(workload?.spec).toMatchObject({
    controllerRef: { apiGroup: 'leaderworkerset.x-k8s.io', kind: 'LeaderWorkerSet', name: 'llm' },
    podGroupTemplates: [{ name: 'replica', schedulingPolicy: { gang: { minCount: 3 } } }],
  });
  const before = await gangs();
  expect([...before.keys()].sort()).toEqual(['0', '1']);
  for (const group of await groups()) {
    expect(group.metadata.ownerReferences).toMatchObject([
      { kind: 'LeaderWorkerSet', uid: lws.metadata.uid, controller: true },
      { kind: 'Workload', uid: workload?.metadata.uid },
    ]);
    expect(group.spec).toMatchObject({
      schedulingPolicy: { gang: { minCount: 3 } },
      workloadRef: { workloadName: workload?.metadata.name, templateName: 'replica' },
      disruptionMode: { all: {} },
    });
    expect(group.status?.conditions?.[0]).toMatchObject({ status: 'True', reason: 'Scheduled' });
  }

  await patch({ spec: { replicas: 3 } });
  await clock.advance(15 * SECOND);
  const grown = await gangs();
  expect([grown.size, grown.get('0'), grown.get('1')]).toEqual([3, before.get('0'), before.get('1')]);
  await patch({ spec: { replicas: 1 } });
  await clock.advance(15 * SECOND);
  expect([...(await gangs())]).toEqual([['0', before.get('0')]]);
  await patch({ spec: { replicas: 0 } });
  await clock.advance(15 * SECOND);
  expect(await groups()).toEqual([]);
  expect((await workloads()).map(({ metadata }) => metadata.uid)).toEqual([workload?.metadata.uid]);
});

test('gangs of pods with a priority are placed; deleting the set takes Workload, PodGroups and pods with it', async () => {
  await begin(4);
  const { client, clock } = plane;
  await client.create(priorityClassType, { metadata: { name: 'serving' }, value: 1000 });
  const { spec, ...rest } = template('app:1', '1');
  const workerTemplate = { ...rest, spec: { ...spec, priorityClassName: 'serving' } };
  await client.create(leaderWorkerSetType, set({ spec: { leaderWorkerTemplate: { size: 3, workerTemplate } } }));
  await clock.advance(10 * SECOND);
  expect(await placed()).toHaveLength(6);
  expect((await groups()).map((group) => group.spec?.priority)).toEqual([1000, 1000]);
  await client.delete(leaderWorkerSetType, key, { propagationPolicy: 'Background' });
  await clock.advance(20 * SECOND);
  expect([await pods(), await groups(), await workloads()]).toEqual([[], [], []]);
});

test('a gang that does not fit holds nothing; when there is room it is placed whole', async () => {
  await begin(3);
  const { client, clock } = plane;
  const { items: nodes } = await client.list(nodeType);
  const spare = { name: nodes[2]?.metadata.name ?? '' };
  const cordon = (unschedulable: boolean) =>
    client.patch(nodeType, spare, { type: 'merge', body: { spec: { unschedulable } } });
  await cordon(true);
  const half = String(Math.floor(Number(nodes[0]?.status?.allocatable?.['cpu']) / 2));
  await client.create(leaderWorkerSetType, set({ cpu: half }));
  await clock.advance(15 * SECOND);
  const first = await placed();
  expect(first).toHaveLength(3);
  expect(new Set(first).size).toBe(1);
  const other = first[0] === '0' ? '1' : '0';
  const waiting = (await groups()).find((group) => indexOf(group) === other);
  expect(waiting?.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Unschedulable' });
  expect((await pods()).filter((pod) => indexOf(pod) === other)).toHaveLength(3);
  await cordon(false);
  await clock.advance(30 * SECOND);
  expect(await placed()).toEqual(['0', '0', '0', '1', '1', '1']);
});

test('a group that loses a pod is replaced under a new PodGroup; the old one goes with its last pod', async () => {
  await begin(4);
  const { client, clock } = plane;
  await client.create(leaderWorkerSetType, set());
  await clock.advance(15 * SECOND);
  const before = await gangs();
  await client.delete(podType, { namespace, name: 'llm-0-1' });
  await clock.advance(20 * SECOND);
  const after = await gangs();
  expect(after.get('0')).not.toBe(before.get('0'));
  expect(after.get('1')).toBe(before.get('1'));
  expect(await placed()).toEqual(['0', '0', '0', '1', '1', '1']);

  // A leader that goes alone leaves its workers behind for a while: they must not count for the new group.
  await client.delete(podType, { namespace, name: 'llm-1' }, { gracePeriodSeconds: 0 });
  await clock.advance(20 * SECOND);
  const again = await gangs();
  expect(again.get('1')).not.toBe(before.get('1'));
  expect(again.size).toBe(2);
});

test('a rolling update replaces one gang after the other, each with a PodGroup of its own', async () => {
  await begin(4);
  const { client, clock } = plane;
  await client.create(leaderWorkerSetType, set());
  await clock.advance(15 * SECOND);
  const before = await gangs();
  const [workload] = await workloads();
  await patch({ spec: { leaderWorkerTemplate: { size: 2, workerTemplate: template('app:2', '1') } } });
  for (let step = 0; step < 20; step += 1) {
    await clock.advance(SECOND);
    const whole = (await pods()).filter(({ status }) =>
      status?.conditions?.some(({ status: value, type }) => type === 'Ready' && value === 'True'),
    );
    expect(new Set(whole.map(indexOf)).size).toBeGreaterThanOrEqual(1);
  }
  const after = await gangs();
  expect([...after.values()].filter((name) => [...before.values()].includes(name))).toEqual([]);
  expect(await placed()).toEqual(['0', '0', '1', '1']);
  for (const group of await groups()) expect(group.spec?.schedulingPolicy.gang?.minCount).toBe(2);
  const [kept] = await workloads();
  expect(kept?.metadata.uid).toBe(workload?.metadata.uid);
  expect(kept?.spec?.podGroupTemplates?.[0]?.schedulingPolicy.gang?.minCount).toBe(2);
});

test('an update with maxSurge adds a group for its time, and as many as asked for serve throughout', async () => {
  await begin(4);
  const { client, clock } = plane;
  const rolloutStrategy = { rollingUpdateConfiguration: { maxSurge: 1, maxUnavailable: 0 } };
  await client.create(leaderWorkerSetType, set({ spec: { rolloutStrategy } }));
  await clock.advance(15 * SECOND);
  await patch({ spec: { leaderWorkerTemplate: { workerTemplate: template('app:2', '1') } } });
  let most = 0;
  for (let step = 0; step < 40; step += 1) {
    await clock.advance(SECOND);
    const members = await pods();
    const ready = members.filter(isPodReady).map(indexOf);
    const serving = ['0', '1', '2'].filter((index) => ready.filter((one) => one === index).length === 3);
    expect(serving.length).toBeGreaterThanOrEqual(2);
    most = Math.max(most, new Set(members.map(indexOf)).size);
  }
  expect(most).toBe(3);
  expect(await placed()).toEqual(['0', '0', '0', '1', '1', '1']);
  expect(new Set((await pods()).map(({ spec }) => spec?.containers[0]?.image))).toEqual(new Set(['app:2']));
  const { status } = await client.get(leaderWorkerSetType, key);
  expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, updatedReplicas: 2 });
});

test('under LeaderReady the leader is placed alone, and the workers then all together or not at all', async () => {
  await begin(2);
  const { client, clock } = plane;
  const { items: nodes } = await client.list(nodeType);
  const whole = String(Math.floor(Number(nodes[0]?.status?.allocatable?.['cpu']) * 0.8));
  await client.create(leaderWorkerSetType, set({ cpu: whole, replicas: 1, spec: { startupPolicy: 'LeaderReady' } }));
  await clock.advance(30 * SECOND);
  expect((await pods()).map(({ metadata, spec }) => [metadata.name, Boolean(spec?.nodeName)])).toEqual([
    ['llm-0', true],
    ['llm-0-1', false],
    ['llm-0-2', false],
  ]);
  expect((await groups()).map(({ spec }) => spec?.schedulingPolicy.gang?.minCount)).toEqual([3]);
});

test('the annotation asks as well, is read aloud when unreadable, and switching it off takes the gangs away', async () => {
  await begin(4);
  const { client, clock } = plane;
  const asks = (value: string) => ({ 'scheduling.quorate.dev/gang': value });
  await client.create(leaderWorkerSetType, set({ annotations: asks('2'), spec: { scheduling: undefined } }));
  await clock.advance(15 * SECOND);
  expect((await groups()).map(({ spec }) => spec?.schedulingPolicy.gang?.minCount)).toEqual([2, 2]);
  await patch({ metadata: { annotations: asks('3') } });
  await clock.advance(5 * SECOND);
  expect((await groups()).map(({ spec }) => spec?.schedulingPolicy.gang?.minCount)).toEqual([3, 3]);
  await patch({ metadata: { annotations: asks('many') } });
  await clock.advance(20 * SECOND);
  const { items: events } = await client.list(eventType, { namespace });
  expect(events.map(({ reason }) => reason)).toContain('InvalidGang');
  expect([await groups(), await workloads()]).toEqual([[], []]);
  expect((await pods()).map(({ spec }) => spec?.schedulingGroup)).toEqual(Array.from({ length: 6 }, () => undefined));
});

test('a PodDisruptionBudget counts the gangs of a set by itself', async () => {
  await begin(4);
  const { client, clock } = plane;
  await client.create(leaderWorkerSetType, set({ replicas: 3 }));
  const budget: PodDisruptionBudget = {
    metadata: key,
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'llm' } } },
  };
  await client.create(podDisruptionBudgetType, budget);
  await clock.advance(20 * SECOND);
  const numbers = async () => {
    const { status } = await client.get(podDisruptionBudgetType, key);
    return [status?.expectedPods, status?.desiredHealthy, status?.currentHealthy, status?.disruptionsAllowed];
  };
  expect(await numbers()).toEqual([3, 2, 3, 1]);
  const evict = (name: string) =>
    client.request('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
    });
  // A plan names groups by their place in the set: the PodGroup is another once the group has been replaced.
  const onNodes = (await pods()).map((pod) => [indexOf(pod), pod.spec?.nodeName ?? ''] as const);
  const node = onNodes[0]?.[1] ?? '';
  const { plan } = await planClusterDrain(client, { nodes: [node], all: false, nodesReturn: false, now: clock.now() });
  const units = plan.steps.flatMap(({ evictions }) => evictions.map(({ unit }) => unit));
  const there = new Set(onNodes.filter(([, name]) => name === node).map(([index]) => index));
  expect(new Set(units)).toEqual(new Set([...there].map((index) => `default/LeaderWorkerSet/llm/${index}`)));
  const serving = async (index: string): Promise<number> =>
    (await pods()).filter((pod) => indexOf(pod) === index && isPodReady(pod)).length;
  await evict('llm-0-1');
  let refused = 0;
  let taken = false;
  for (let step = 0; step < 100 && !taken; step += 1) {
    const whole = (await serving('0')) === 3;
    taken = await evict('llm-1').then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 429 });
        return false;
      },
    );
    if (taken) expect(whole).toBe(true);
    else refused += 1;
    await clock.advance(SECOND / 10);
  }
  expect(taken).toBe(true);
  expect(refused).toBeGreaterThan(5);
  await clock.advance(10 * SECOND);
  expect(await numbers()).toEqual([3, 2, 3, 1]);
});

test('18.2: no pod of a set is ever made whose PodGroup is not there, or is going', async () => {
  const made = new Set<string>();
  const wrong: string[] = [];
  plane = await startControlPlane({
    controllers: true,
    nodes: 4,
    extend: ({ objects, registry, writes }) => {
      const prefixOf = (group: string, plural: string) => `${registry.byPlural(group, plural)?.prefix}${namespace}/`;
      writes.listen({
        wrote(all, state) {
          for (const { entry, key: path } of all) {
            if (entry === undefined || !path.startsWith(prefixOf('', 'pods'))) continue;
            const { metadata, spec } = objects.readWithoutManagedFields(entry) as unknown as Pod;
            if (made.has(metadata.uid ?? '')) continue;
            made.add(metadata.uid ?? '');
            const name = spec?.schedulingGroup?.podGroupName ?? '';
            const group = [...state.range(prefixOf('scheduling.k8s.io', 'podgroups'))]
              .map((one) => objects.readWithoutManagedFields(one).metadata)
              .find((one) => one.name === name);
            if (group === undefined || group.deletionTimestamp) wrong.push(`${metadata.name}: ${name}`);
          }
        },
        lost() {},
      });
    },
  });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  await client.create(leaderWorkerSetType, set());
  await clock.advance(20 * SECOND);
  // Twice a group restarts, once the set is updated and once scaled up.
  for (const name of ['llm-0', 'llm-1-1']) {
    await client.delete(podType, { namespace, name });
    await clock.advance(60 * SECOND);
  }
  await patch({ spec: { leaderWorkerTemplate: { workerTemplate: template('app:2', '1') } } });
  await clock.advance(120 * SECOND);
  await patch({ spec: { replicas: 3 } });
  await clock.advance(60 * SECOND);
  expect(await placed()).toEqual(['0', '0', '0', '1', '1', '1', '2', '2', '2']);
  expect(made.size).toBeGreaterThanOrEqual(21);
  expect(wrong).toEqual([]);
});
