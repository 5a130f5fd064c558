import { afterEach, expect, test } from 'vitest';
import type { Job } from '../../src/api/generated/batch-v1.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { PodGroup, PriorityClass, Workload } from '../../src/api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { jobType, podType } from '../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

const workloadType = builtinType('Workload', 'scheduling.k8s.io') as ResourceType<Workload>;
const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
const priorityClassType = builtinType('PriorityClass', 'scheduling.k8s.io') as ResourceType<PriorityClass>;

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
const key = { namespace: 'default', name: 'train' };
const train = (parallelism: number, cpu: string): Job => ({
  metadata: { ...key, annotations: { 'scheduling.quorate.dev/gang': 'true' } },
  spec: {
    parallelism,
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'worker', image: 'train:1', resources: { requests: { cpu } } }],
      },
    },
  },
});
const podsOf = async ({ client }: ControlPlane): Promise<Pod[]> =>
  (await client.list(podType, { namespace: 'default' })).items;
const running = async (on: ControlPlane): Promise<number> =>
  (await podsOf(on)).filter(({ status }) => status?.phase === 'Running').length;
const groups = async ({ client }: ControlPlane) => {
  const [workloads, podGroups] = await Promise.all([
    client.list(workloadType, { namespace: 'default' }),
    client.list(podGroupType, { namespace: 'default' }),
  ]);
  return { workloads: workloads.items, podGroups: podGroups.items };
};
const scale = ({ client }: ControlPlane, parallelism: number) =>
  client.patch(jobType, key, { type: 'merge', body: { spec: { parallelism } } });

test('a training Job goes from parallelism 4 to 8 and back without recreating its Workload', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 4 });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  await client.create(jobType, train(4, '2'));
  await clock.advance(10 * SECOND);
  expect(await running(plane)).toBe(4);

  const before = await groups(plane);
  expect(before.workloads).toHaveLength(1);
  expect(before.podGroups).toHaveLength(1);
  const [workload] = before.workloads;
  const [group] = before.podGroups;
  const job = await client.get(jobType, key);
  expect(workload?.metadata.ownerReferences).toMatchObject([{ kind: 'Job', uid: job.metadata.uid, controller: true }]);
  expect(group?.metadata.ownerReferences).toMatchObject([
    { kind: 'Job', uid: job.metadata.uid, controller: true },
    { kind: 'Workload', uid: workload?.metadata.uid },
  ]);
  for (const pod of await podsOf(plane)) {
    expect(pod.spec?.schedulingGroup?.podGroupName).toBe(group?.metadata.name);
    expect(pod.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['Job']);
  }

  const minimum = async (): Promise<(number | undefined)[]> => {
    const { podGroups, workloads } = await groups(plane as ControlPlane);
    expect(workloads.map(({ metadata }) => metadata.uid)).toEqual([workload?.metadata.uid]);
    expect(podGroups.map(({ metadata }) => metadata.uid)).toEqual([group?.metadata.uid]);
    return [
      workloads[0]?.spec?.podGroupTemplates?.[0]?.schedulingPolicy.gang?.minCount,
      podGroups[0]?.spec?.schedulingPolicy.gang?.minCount,
    ];
  };
  await scale(plane, 8);
  await clock.advance(10 * SECOND);
  expect(await running(plane)).toBe(8);
  expect(await minimum()).toEqual([8, 8]);
  await scale(plane, 4);
  await clock.advance(10 * SECOND);
  expect(await running(plane)).toBe(4);
  expect(await minimum()).toEqual([4, 4]);
  expect((await client.get(jobType, key)).status?.failed ?? 0).toBe(0);
});

test('a training Job larger than the cluster starts no pod at all, and says so', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 2 });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  await client.create(jobType, train(5, '8'));
  await clock.advance(30 * SECOND);
  expect(await running(plane)).toBe(0);
  expect((await podsOf(plane)).every(({ spec }) => !spec?.nodeName)).toBe(true);
  const [group] = (await groups(plane)).podGroups;
  expect(group?.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Unschedulable' });
  await scale(plane, 4);
  await clock.advance(60 * SECOND);
  expect(await running(plane)).toBe(4);
});

test('a gang Job with a priority runs; deleting it takes its Workload, PodGroup and pods with it', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 4 });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  await client.create(priorityClassType, { metadata: { name: 'research' }, value: 1000 });
  const job = train(4, '1');
  if (job.spec?.template.spec) job.spec.template.spec.priorityClassName = 'research';
  await client.create(jobType, job);
  await clock.advance(10 * SECOND);
  expect(await running(plane)).toBe(4);
  await client.delete(jobType, key, { propagationPolicy: 'Background' });
  await clock.advance(60 * SECOND);
  expect(await podsOf(plane)).toEqual([]);
  const left = await groups(plane);
  expect([left.workloads, left.podGroups]).toEqual([[], []]);
});

test('18.2: a Job makes no pod that names a group which is going; when it is gone, the next one is joined', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 4 });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  await client.create(jobType, train(2, '1'));
  await clock.advance(10 * SECOND);
  const [group] = (await groups(plane)).podGroups;
  await client.delete(podGroupType, { namespace: 'default', name: group?.metadata.name ?? '' });
  await scale(plane, 3);
  await clock.advance(5 * SECOND);
  expect((await groups(plane)).podGroups[0]?.metadata.deletionTimestamp).toBeDefined();
  expect(await podsOf(plane)).toHaveLength(2);

  await scale(plane, 0);
  await clock.advance(10 * SECOND);
  await scale(plane, 3);
  await clock.advance(10 * SECOND);
  const [next] = (await groups(plane)).podGroups;
  expect(next?.metadata.uid).not.toBe(group?.metadata.uid);
  expect(next?.metadata.deletionTimestamp).toBeUndefined();
  expect(await podsOf(plane)).toHaveLength(3);
});

test('18.15: a Job asks for its gang by spec.scheduling, with the mode in which it may be disrupted', async () => {
  plane = await startControlPlane({ controllers: true, nodes: 4 });
  const { client, clock } = plane;
  await clock.advance(5 * SECOND);
  const { metadata, spec } = train(3, '1');
  const scheduling = { schedulingPolicy: { gang: {} }, disruptionMode: { all: {} } };
  const { annotations: _, ...plain } = metadata;
  await client.create(jobType, { metadata: plain, spec: { ...spec, template: spec?.template ?? {}, scheduling } });
  await clock.advance(10 * SECOND);
  expect(await running(plane)).toBe(3);
  const { podGroups, workloads } = await groups(plane);
  const wanted = { schedulingPolicy: { gang: { minCount: 3 } }, disruptionMode: { all: {} } };
  expect(workloads[0]?.spec?.podGroupTemplates).toMatchObject([wanted]);
  expect(podGroups[0]?.spec).toMatchObject(wanted);
});
