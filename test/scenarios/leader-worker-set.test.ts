/** The fields of the released LeaderWorkerSet v1, as its users see them work. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ControllerRevision } from '../../src/api/generated/apps-v1.ts';
import type { PersistentVolumeClaim, Pod } from '../../src/api/generated/core-v1.ts';
import { type LeaderWorkerSet, leaderWorkerSetType, type LeaderWorkerTemplate, LWS } from '../../src/api/lws/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { controllerRevisionType, nodeType, podType, serviceType } from '../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

const claimType = builtinType('PersistentVolumeClaim') as ResourceType<PersistentVolumeClaim>;
const namespace = 'default';
const key = { namespace, name: 'llm' };
let plane: ControlPlane;

beforeEach(async () => {
  plane = await startControlPlane({ controllers: true, nodes: 4 });
  await run(5);
});
afterEach(() => plane.stop());

async function run(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await plane.clock.advance(1000);
    await plane.settle();
  }
}

const templateOf = (image: string) => ({
  metadata: { labels: { app: 'llm' } },
  spec: { containers: [{ name: 'c', image }] },
});

interface Shape {
  readonly annotations?: Record<string, string>;
  readonly template?: LeaderWorkerTemplate;
  readonly spec?: Partial<NonNullable<LeaderWorkerSet['spec']>>;
}

async function apply({ annotations = {}, spec, template }: Shape = {}): Promise<LeaderWorkerSet> {
  const made = await plane.client.create(leaderWorkerSetType, {
    metadata: { ...key, annotations },
    spec: { replicas: 2, leaderWorkerTemplate: { size: 3, workerTemplate: templateOf('app:1'), ...template }, ...spec },
  });
  await run(15);
  return made;
}

const patch = (body: object) => plane.client.patch(leaderWorkerSetType, key, { type: 'merge', body });
const pods = async (): Promise<Pod[]> => (await plane.client.list(podType, { namespace })).items;
const podOf = (name: string): Promise<Pod> => plane.client.get(podType, { namespace, name });
const label = (of: string) => async (): Promise<string[]> =>
  (await pods()).map(({ metadata }) => `${metadata.name} ${metadata.labels?.[of] ?? '-'}`);
const images = async (): Promise<string[]> =>
  (await pods()).map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image}`);
const services = async (): Promise<(string | undefined)[]> =>
  (await plane.client.list(serviceType, { namespace })).items.map(({ metadata }) => metadata.name);
const claims = async (): Promise<(string | undefined)[]> =>
  (await plane.client.list(claimType, { namespace })).items.map(({ metadata }) => metadata.name);
const revisions = async (): Promise<ControllerRevision[]> =>
  (await plane.client.list(controllerRevisionType, { namespace })).items.filter(
    ({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'LeaderWorkerSet',
  );

test('23.3: what a set does not say is filled in as the released software fills it in', async () => {
  const { spec } = await apply({ template: { restartPolicy: 'Default', subGroupPolicy: { subGroupSize: 1 } } });
  expect(spec).toMatchObject({
    leaderWorkerTemplate: {
      restartPolicy: 'None',
      subGroupPolicy: { subGroupPolicyType: 'LeaderWorker', subGroupSize: 1 },
    },
    rolloutStrategy: {
      type: 'RollingUpdate',
      rollingUpdateConfiguration: { partition: 0, maxUnavailable: 1, maxSurge: 0 },
    },
    startupPolicy: 'LeaderCreated',
    networkConfig: { subdomainPolicy: 'Shared' },
  });
});

test('23.3: a set that cannot be is refused with the path of the field', async () => {
  await expect(apply({ template: { subGroupPolicy: { subGroupSize: 4 } } })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 4'),
  });
  await apply();
  await expect(
    patch({ spec: { leaderWorkerTemplate: { subGroupPolicy: { subGroupSize: 1 } } } }),
  ).rejects.toMatchObject({ code: 422 });
});

test('23.3: pods say which subgroup they are in', async () => {
  await apply({ template: { size: 5, subGroupPolicy: { subGroupSize: 2 } }, spec: { replicas: 1 } });
  expect(await label(LWS.subGroupIndex)()).toEqual(['llm-0 0', 'llm-0-1 0', 'llm-0-2 0', 'llm-0-3 1', 'llm-0-4 1']);
  const keys = new Set((await pods()).map(({ metadata }) => metadata.labels?.[LWS.subGroupKey]));
  expect(keys.size).toBe(2);
  expect((await podOf('llm-0')).metadata.annotations).toMatchObject({
    [LWS.subGroupSize]: '2',
    [LWS.subGroupType]: 'LeaderWorker',
  });
});

test('23.3: under UniquePerReplica each group has a Service, which goes with its leader', async () => {
  await apply({ spec: { networkConfig: { subdomainPolicy: 'UniquePerReplica' } } });
  expect(await services()).toEqual(['llm-0', 'llm-1']);
  expect((await plane.client.get(serviceType, { namespace, name: 'llm-1' })).spec).toMatchObject({
    clusterIP: 'None',
    selector: { [LWS.name]: 'llm', [LWS.groupIndex]: '1' },
  });
  const { spec } = await podOf('llm-1-2');
  expect(spec?.subdomain).toBe('llm-1');
  expect(spec?.containers[0]?.env?.[0]).toEqual({ name: 'LWS_LEADER_ADDRESS', value: 'llm-1.llm-1.default' });
  const before = await plane.client.get(serviceType, { namespace, name: 'llm-1' });
  await plane.client.delete(podType, { namespace, name: 'llm-1' });
  await run(60);
  const after = await plane.client.get(serviceType, { namespace, name: 'llm-1' });
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(after.metadata.ownerReferences?.[0]?.uid).toBe((await podOf('llm-1')).metadata.uid);
  await patch({ spec: { replicas: 1 } });
  await run(40);
  expect(await services()).toEqual(['llm-0']);
});

test('23.3: every pod has claims of its own; with whenScaled Delete they go with their group', async () => {
  const claim = {
    metadata: { name: 'cache' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
  await apply({ template: { size: 2, volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy } });
  expect(await claims()).toEqual(['cache-llm-0', 'cache-llm-0-1', 'cache-llm-1', 'cache-llm-1-1']);
  expect((await podOf('llm-0-1')).spec?.volumes).toContainEqual({
    name: 'cache',
    persistentVolumeClaim: { claimName: 'cache-llm-0-1' },
  });
  await patch({ spec: { replicas: 1 } });
  await run(60);
  expect(await claims()).toEqual(['cache-llm-0', 'cache-llm-0-1']);
});

test('23.3: a group below the partition keeps its revision, also when it is made again', async () => {
  const rollingUpdateConfiguration = { partition: 1, maxUnavailable: 1, maxSurge: 0 };
  await apply({ spec: { rolloutStrategy: { type: 'RollingUpdate', rollingUpdateConfiguration } } });
  await patch({ spec: { leaderWorkerTemplate: { workerTemplate: templateOf('app:2') } } });
  await run(40);
  const canary = ['llm-0 app:1', 'llm-0-1 app:1', 'llm-0-2 app:1', 'llm-1 app:2', 'llm-1-1 app:2', 'llm-1-2 app:2'];
  expect(await images()).toEqual(canary);
  const { status } = await plane.client.get(leaderWorkerSetType, key);
  expect(status).toMatchObject({ readyReplicas: 2, updatedReplicas: 1 });
  expect(status?.conditions?.map(({ status: is, type }) => `${type} ${is}`)).toEqual([
    'Available True',
    'Progressing False',
    'UpdateInProgress False',
  ]);

  await plane.client.delete(podType, { namespace, name: 'llm-0-2' });
  await run(60);
  expect(await images()).toEqual(canary);
  expect(await revisions()).toHaveLength(2);

  await patch({ spec: { rolloutStrategy: { rollingUpdateConfiguration: { partition: 0 } } } });
  await run(60);
  expect(new Set((await images()).map((one) => one.split(' ')[1]))).toEqual(new Set(['app:2']));
  expect(await revisions()).toHaveLength(1);
});

test('23.3: with an exclusive topology no two groups share a domain, and workers are where their leader is', async () => {
  const { items: nodes } = await plane.client.list(nodeType, {});
  for (const [at, { metadata }] of nodes.entries()) {
    const rack = { metadata: { labels: { rack: at < 2 ? 'a' : 'b' } } };
    await plane.client.patch(nodeType, { name: metadata.name ?? '' }, { type: 'merge', body: rack });
  }
  await run(2);
  await apply({ annotations: { [LWS.exclusiveTopology]: 'rack' } });
  const racks = new Map(nodes.map(({ metadata }, at) => [metadata.name, at < 2 ? 'a' : 'b']));
  const byGroup = new Map<string | undefined, Set<string | undefined>>();
  for (const { metadata, spec } of await pods()) {
    const group = metadata.labels?.[LWS.groupIndex];
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(racks.get(spec?.nodeName)));
  }
  expect([...byGroup.values()].map((found) => found.size)).toEqual([1, 1]);
  expect(new Set([...byGroup.values()].flatMap((found) => [...found]))).toEqual(new Set(['a', 'b']));
  expect((await pods()).length).toBe(6);
});
