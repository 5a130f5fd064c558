import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtinType } from '../../api/registry.ts';
import { isConflict, isNotFound } from '../../machinery/runtime/index.ts';
import { type ControlPlane, configMap, deployment, pod, startControlPlane } from '../../testkit/index.ts';
import { configMapType, podType } from '../../testkit/types.ts';

let plane: ControlPlane;
const key = (name: string) => ({ namespace: 'default', name });
const deployments = builtinType('Deployment', 'apps');

beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

test('finalizers keep an object; the update that removes the last one removes it', async () => {
  const { client } = plane;
  await client.create(configMapType, {
    ...configMap({ name: 'a' }),
    metadata: { name: 'a', namespace: 'default', finalizers: ['x.io/f'] },
  });
  await client.delete(configMapType, key('a'));
  const marked = await client.get(configMapType, key('a'));
  expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['x.io/f'] });
  const adding = client.patch(configMapType, key('a'), {
    type: 'merge',
    body: { metadata: { finalizers: ['x.io/f', 'x.io/g'] } },
  });
  await expect(adding).rejects.toThrow('no new finalizers can be added if the object is being deleted');
  await client.patch(configMapType, key('a'), { type: 'merge', body: { metadata: { finalizers: null } } });
  await expect(client.get(configMapType, key('a'))).rejects.toSatisfy(isNotFound);
});

const policies = [
  { policy: 'Foreground', finalizers: ['foregroundDeletion'] },
  { policy: 'Orphan', finalizers: ['orphan'] },
] as const;
for (const { policy, finalizers } of policies) {
  test(`${policy} deletion leaves the object to the garbage collector`, async () => {
    await plane.client.create(deployments, deployment({ name: 'd', replicas: 0 }));
    await plane.client.delete(deployments, key('d'), { propagationPolicy: policy });
    const { metadata } = await plane.client.get(deployments, key('d'));
    expect(metadata.finalizers).toEqual(finalizers);
    expect(metadata.generation).toBe(2);
  });
}

test('background deletion removes at once', async () => {
  await plane.client.create(deployments, deployment({ name: 'd', replicas: 0 }));
  await plane.client.delete(deployments, key('d'), { propagationPolicy: 'Background' });
  await expect(plane.client.get(deployments, key('d'))).rejects.toSatisfy(isNotFound);
});

test('a second delete of a pod may only shorten its time', async () => {
  const { client, clock } = plane;
  await client.create(podType, pod({ name: 'p', spec: { nodeName: 'n', terminationGracePeriodSeconds: 60 } }));
  await client.delete(podType, key('p'));
  const asked = Date.parse((await client.get(podType, key('p'))).metadata?.deletionTimestamp as string);
  expect(asked).toBe(clock.now() + 60_000);
  await client.delete(podType, key('p'), { gracePeriodSeconds: 90 });
  const longer = (await client.get(podType, key('p'))).metadata;
  expect(longer).toMatchObject({ deletionGracePeriodSeconds: 60, generation: 2 });
  await client.delete(podType, key('p'), { gracePeriodSeconds: 10 });
  const shorter = (await client.get(podType, key('p'))).metadata;
  expect(shorter).toMatchObject({ deletionGracePeriodSeconds: 10, generation: 2 });
  expect(Date.parse(shorter?.deletionTimestamp as string)).toBe(clock.now() + 10_000);
  await client.delete(podType, key('p'), { gracePeriodSeconds: 0 });
  await expect(client.get(podType, key('p'))).rejects.toSatisfy(isNotFound);
});

test('preconditions on uid and resourceVersion must hold', async () => {
  const made = await plane.client.create(configMapType, configMap({ name: 'a' }));
  for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
    await expect(plane.client.delete(configMapType, key('a'), { preconditions })).rejects.toSatisfy(isConflict);
  }
  const { uid, resourceVersion } = made.metadata ?? {};
  await plane.client.delete(configMapType, key('a'), { preconditions: { uid, resourceVersion } });
  await expect(plane.client.get(configMapType, key('a'))).rejects.toSatisfy(isNotFound);
});

test('deletecollection takes what its selector picks', async () => {
  for (const name of ['a', 'b', 'c']) {
    await plane.client.create(configMapType, configMap({ name, labels: { go: String(name !== 'b') } }));
  }
  await plane.client.deleteCollection(configMapType, { namespace: 'default', labelSelector: 'go=true' });
  const left = await plane.client.list(configMapType, { namespace: 'default' });
  expect(left.items.map(({ metadata }) => metadata?.name)).toEqual(['b']);
});

test('a deletion in a dry run deletes nothing', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  await plane.client.delete(configMapType, key('a'), { dryRun: true });
  expect((await plane.client.get(configMapType, key('a'))).metadata?.deletionTimestamp).toBeUndefined();
});

test('propagationPolicy and orphanDependents exclude each other', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  const both = plane.client.request('DELETE', '/api/v1/namespaces/default/configmaps/a', {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
    orphanDependents: false,
  });
  await expect(both).rejects.toMatchObject({ code: 422 });
});

test('an object keeps its managed fields while it is marked and when it is gone', async () => {
  const { client } = plane;
  const created = await client.create(podType, pod({ name: 'p', spec: { nodeName: 'n' } }));
  const { managedFields } = created.metadata;
  expect(managedFields).toHaveLength(1);
  const path = '/api/v1/namespaces/default/pods/p';
  const marked = await client.request<typeof created>('DELETE', path);
  expect(marked.metadata).toMatchObject({ managedFields, deletionGracePeriodSeconds: 30 });
  expect((await client.get(podType, key('p'))).metadata).toEqual(marked.metadata);
  const gone = await client.request<typeof created>('DELETE', `${path}?gracePeriodSeconds=0`);
  expect(gone.metadata).toMatchObject({ managedFields, uid: created.metadata.uid });
  const seen = client.watch(podType, { namespace: 'default', resourceVersion: marked.metadata.resourceVersion });
  for await (const { type, object } of seen) {
    expect([type, object.metadata]).toEqual(['DELETED', gone.metadata]);
    break;
  }
});

test('a write whose caller shares objects answers with the stored object, without managed fields', async () => {
  const given = pod({ name: '' });
  given.metadata = { namespace: 'default', generateName: 'web-' };
  const names = new Set<string>();
  for (let at = 0; at < 3; at += 1) {
    const { kind, metadata } = await plane.client.create(podType, given, { shared: true });
    expect([kind, metadata.managedFields]).toEqual(['Pod', undefined]);
    names.add(metadata.name ?? '');
  }
  const { items } = await plane.client.list(podType, { namespace: 'default' });
  expect(new Set(items.map(({ metadata }) => metadata.name))).toEqual(names);
  expect(items.every(({ metadata }) => metadata.managedFields?.length === 1)).toBe(true);
  const again = plane.client.create(
    podType,
    { metadata: { namespace: 'nowhere', generateName: 'x-' } },
    { shared: true },
  );
  await expect(again).rejects.toSatisfy(isNotFound);
});
