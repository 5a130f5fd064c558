import { afterEach, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { persistentVolumeClaimType, persistentVolumeType, podType } from '../../../api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

async function start(): Promise<ControlPlane> {
  plane = await startControlPlane({ controllers: true, nodes: 1 });
  await plane.settle();
  return plane;
}

const namespace = 'default';
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const claim = (name: string): PersistentVolumeClaim => ({ metadata: { namespace, name }, spec });
const volume: PersistentVolume = {
  metadata: { name: 'v' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
};
const user = (name: string, placed: object): Pod => ({
  metadata: { namespace, name },
  spec: {
    ...placed,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
});
const key = { namespace, name: 'data' };
const isThere = async ({ client }: ControlPlane): Promise<boolean> => {
  const { items } = await client.list(persistentVolumeClaimType, { namespace });
  return items.some(({ metadata }) => metadata.name === 'data');
};

test('17: a claim that a pod on a node uses goes when the pod has gone', async () => {
  const running = await start();
  const { client } = running;
  const made = await client.create(persistentVolumeClaimType, claim('data'));
  expect(made.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await client.create(podType, user('p', { nodeName: 'node-0' }));
  await client.delete(persistentVolumeClaimType, key);
  await running.settle();
  expect((await client.get(persistentVolumeClaimType, key)).metadata.deletionTimestamp).toBeDefined();
  await client.delete(podType, { namespace, name: 'p' });
  await running.settle();
  expect(await isThere(running)).toBe(false);
});

test('17: a claim that nobody uses, or only a pod without a node, goes at once', async () => {
  const running = await start();
  const { client } = running;
  await client.create(persistentVolumeClaimType, claim('data'));
  await client.create(podType, user('p', { schedulingGates: [{ name: 'a.b/c' }] }));
  await client.delete(persistentVolumeClaimType, key);
  await running.settle();
  expect(await isThere(running)).toBe(false);
});

test('17: a volume that is bound goes when it is not any more; one that lost its finalizer gets it back', async () => {
  const running = await start();
  const { client } = running;
  const made = await client.create(persistentVolumeType, volume);
  expect(made.metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
  const name = { name: 'v' };
  const phase = (now: string) =>
    client.patch(
      persistentVolumeType,
      name,
      { type: 'merge', body: { status: { phase: now } } },
      { subresource: 'status' },
    );
  await client.patch(persistentVolumeType, name, { type: 'merge', body: { metadata: { finalizers: null } } });
  await running.settle();
  expect((await client.get(persistentVolumeType, name)).metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
  await phase('Bound');
  await client.delete(persistentVolumeType, name);
  await running.settle();
  expect((await client.get(persistentVolumeType, name)).metadata.deletionTimestamp).toBeDefined();
  await phase('Released');
  await running.settle();
  expect((await client.list(persistentVolumeType)).items).toEqual([]);
});
