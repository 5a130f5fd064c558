import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../src/api/generated/meta-v1.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { deploymentType, replicaSetType, replicationControllerType } from '../../../src/api/resource-types.ts';
import { deployment, replicaSet } from '../../../src/testkit/index.ts';
import { type Stage, withController, nudge } from './support.ts';

const ownerOf = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion: apiVersion ?? '',
  kind: kind ?? '',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
});

async function createReplicaSet(stage: Stage, replicas: number, owner?: OwnerReference): Promise<OwnerReference> {
  const set = replicaSet({ name: `rs-${replicas}`, replicas });
  if (owner !== undefined) set.metadata.ownerReferences = [owner];
  return ownerOf(await stage.plane.client.create(replicaSetType, set));
}

async function createController(stage: Stage, replicas: number): Promise<OwnerReference> {
  const labels = { app: 'rc' };
  const created = await stage.plane.client.create(replicationControllerType, {
    metadata: { name: `rc-${replicas}`, namespace: 'default' },
    spec: {
      replicas,
      selector: labels,
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'x' }] } },
    },
  });
  return ownerOf(created);
}

async function scale(stage: Stage, owner: OwnerReference, replicas: number): Promise<void> {
  const key = { namespace: 'default', name: owner.name };
  await stage.plane.client.patch(replicaSetType, key, { type: 'merge', body: { spec: { replicas } } });
}

test(
  'T4 neither bound set: nothing may go',
  withController(async (stage) => {
    for (const name of ['p', 'q', 'r']) await stage.pod(name);
    await stage.budget({});
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 3, 0, 0]);
    expect((await stage.evict('p')).cause).toBe('The disruption budget foo does not allow evicting pods currently');
  }),
);

test(
  'T11 an empty selector takes every pod of the namespace, and none at first',
  withController(async (stage) => {
    await stage.budget({ selector: {}, minAvailable: 3 });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 0, 3, 0]);
    expect((await stage.events('NoPods'))[0]).toMatchObject({ type: 'Normal', message: 'No matching pods found' });
    await stage.pod('p');
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 3, 1]);
  }),
);

test(
  'T12 the stored form of an empty v1beta1 selector takes none',
  withController(async (stage) => {
    const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
    await stage.budget({ selector: { matchExpressions: [{ key, operator: 'Exists' }] }, minAvailable: 1 });
    await stage.budget({ selector: {}, minAvailable: 1 }, { name: 'all' });
    for (const name of ['p', 'q', 'r', 's']) await stage.pod(name);
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(0);
    expect((await stage.numbers('all'))[1]).toBe(4);
  }),
);

test(
  'T13 a null selector takes none and guards none',
  withController(async (stage) => {
    await stage.budget({ selector: null, minAvailable: 1 });
    await stage.pod('p');
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(0);
    expect((await stage.evict('p')).code).toBe(201);
  }),
);

for (const selector of [{}, { matchExpressions: [{ key: 'k', operator: 'DoesNotExist' }] }]) {
  test(
    `T14 an unlabelled pod is taken by ${JSON.stringify(selector)}`,
    withController(async (stage) => {
      await stage.budget({ selector, minAvailable: 1 });
      await stage.pod('p', { labels: {} });
      await stage.settle();
      expect((await stage.numbers())[1]).toBe(1);
    }),
  );
}

test(
  'T16 the numbers follow pods that come and stop being Ready',
  withController(async (stage) => {
    await stage.budget({ minAvailable: 3 });
    for (let count = 1; count <= 4; count += 1) {
      await stage.pod(`p${count}`);
      await stage.settle();
      expect(await stage.numbers()).toEqual([count === 4 ? 1 : 0, count, 3, count]);
    }
    await stage.setReady('p1', false);
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 3, 3, 4]);
  }),
);

test(
  'T17 a pod without a controller is left out and spoken of',
  withController(async (stage) => {
    await stage.budget({ maxUnavailable: 1 });
    await stage.pod('p');
    await stage.settle();
    expect((await stage.numbers())[0]).toBe(0);
    expect(await stage.condition()).toMatchObject({ reason: 'InsufficientPods' });
    expect((await stage.events('UnmanagedPods'))[0]?.type).toBe('Warning');
  }),
);

test(
  'T18 maxUnavailable is of the size of the owner',
  withController(async (stage) => {
    const owner = await createReplicaSet(stage, 7);
    await stage.pod('p', { owner });
    await stage.budget({ maxUnavailable: 2 });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 5, 7]);
    await scale(stage, owner, 5);
    await nudge(stage);
    expect(await stage.numbers()).toEqual([0, 1, 3, 5]);
  }),
);

test(
  'T19 a maxUnavailable percentage rounds up',
  withController(async (stage) => {
    const owner = await createReplicaSet(stage, 7);
    await stage.pod('p', { owner });
    await stage.budget({ maxUnavailable: '30%' });
    await stage.settle();
    expect((await stage.numbers())[2]).toBe(4);
    await scale(stage, owner, 3);
    await nudge(stage);
    expect((await stage.numbers())[2]).toBe(2);
  }),
);

test(
  'T20 an owner of an unknown kind fails the sync and nothing may go',
  withController(async (stage) => {
    await stage.pod('p', {
      owner: { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'u', controller: true },
    });
    await stage.budget({ minAvailable: '28%' });
    await stage.settle();
    expect((await stage.numbers())[0]).toBe(0);
    expect(await stage.condition()).toMatchObject({
      reason: 'SyncFailed',
      message: 'no matches for kind "Thing" in version "example.com/v1"',
    });
    expect((await stage.events('CalculateExpectedPodCountFailed'))[0]?.type).toBe('Warning');
  }),
);

test(
  'T21 a minAvailable percentage is of the size of the owner',
  withController(async (stage) => {
    await stage.pod('p', { owner: await createReplicaSet(stage, 10) });
    await stage.budget({ minAvailable: '20%' });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 2, 10]);
  }),
);

test(
  'T23 an owner that is gone is found by none of the finders, one without scale cannot be',
  withController(async (stage) => {
    await stage.pod('p', {
      owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone', uid: 'u', controller: true },
    });
    await stage.budget({ minAvailable: '20%' });
    await stage.settle();
    expect((await stage.condition())?.message).toBe('found no controllers for pod "p"');
    await stage.remove('p');
    await stage.pod('q', { owner: { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'u', controller: true } });
    await stage.settle();
    expect((await stage.condition())?.message).toBe('configmaps does not implement the scale subresource');
  }),
);

test(
  'T24 more healthy pods than expected is fine',
  withController(async (stage) => {
    const owner = await createController(stage, 1);
    await stage.pod('p', { owner });
    await stage.pod('q', { owner });
    await stage.budget({ minAvailable: '1%' });
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 2, 1, 1]);
  }),
);

test(
  'T25 a minAvailable percentage from no pod to more than expected',
  withController(async (stage) => {
    const owner = await createController(stage, 3);
    await stage.budget({ minAvailable: '34%' });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 0, 0, 0]);
    await stage.pod('p0', { owner });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 2, 3]);
    await stage.pod('p1', { owner });
    await stage.pod('p2', { owner });
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 3, 2, 3]);
    await stage.pod('stray');
    await stage.settle();
    expect((await stage.numbers())[0]).toBe(2);
  }),
);

test(
  'T26 the sizes of several owners add up',
  withController(async (stage) => {
    const first = await createController(stage, 11);
    await stage.pod('p0', { owner: first });
    await stage.budget({ minAvailable: '28%' });
    await stage.settle();
    expect((await stage.numbers())[2]).toBe(4);
    const second = await createReplicaSet(stage, 11);
    for (let at = 1; at < 9; at += 1) await stage.pod(`p${at}`, { owner: at % 2 === 0 ? first : second });
    await stage.settle();
    expect(await stage.numbers()).toEqual([2, 9, 7, 22]);
  }),
);

test(
  'T27 T29 a ReplicaSet counts as its Deployment, and by itself when that is gone',
  withController(async (stage) => {
    const above = ownerOf(await stage.plane.client.create(deploymentType, deployment({ name: 'd', replicas: 10 })));
    const owner = await createReplicaSet(stage, 5, above);
    await stage.pod('p', { owner });
    await stage.budget({ maxUnavailable: 1 });
    await stage.settle();
    expect((await stage.numbers())[3]).toBe(10);
    await stage.plane.client.delete(
      deploymentType,
      { namespace: 'default', name: 'd' },
      { propagationPolicy: 'Background' },
    );
    await nudge(stage);
    expect((await stage.numbers())[3]).toBe(5);
  }),
);

test(
  'T28 an owner reference with a wrong group, kind or UID finds nothing',
  withController(async (stage) => {
    const owner = await createReplicaSet(stage, 5);
    await stage.budget({ maxUnavailable: 1 });
    for (const [at, wrong] of [{ apiVersion: 'invalid/v1' }, { kind: 'Replica' }, { uid: 'other' }].entries()) {
      await stage.pod(`p${at}`, { owner: { ...owner, ...wrong } });
      await stage.settle();
      expect((await stage.condition())?.reason, JSON.stringify(wrong)).toBe('SyncFailed');
      await stage.remove(`p${at}`);
    }
  }),
);
