import { afterEach, expect, test } from 'vitest';
import { podType, replicaSetType } from '../../../src/api/resource-types.ts';
import type { Transport } from '../../../src/machinery/runtime/index.ts';
import { pod, replicaSet } from '../../../src/testkit/index.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start(options: WorldOptions = {}): Promise<World> {
  world = await startWorld(options);
  return world;
}

async function create(w: World, replicas: number, name = 'web') {
  const created = await w.client.create(replicaSetType, replicaSet({ name, replicas }));
  await w.settle();
  return created;
}

const key = (name: string) => ({ namespace: 'default', name });

/** Refuses what `refuses` names, counting every request. */
function refusing(refuses: (method: string, path: string) => boolean) {
  const requests: string[] = [];
  const intercept =
    (inner: Transport): Transport =>
    async (request) => {
      const path = request.path.split('?')[0] as string;
      requests.push(`${request.method} ${path}`);
      if (!refuses(request.method, path)) return inner(request);
      const body = { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message: 'exceeded quota' };
      return { status: 403, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    };
  return { intercept, requests };
}

test('a ReplicaSet gets its pods, and reports them', async () => {
  const w = await start();
  const owner = await create(w, 3);
  const pods = await w.pods();
  expect(pods).toHaveLength(3);
  for (const { metadata } of pods) {
    expect(metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
    expect(metadata.labels).toEqual({ app: 'web' });
    expect(metadata.ownerReferences).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        uid: owner.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  }
  await w.bringAll();
  expect((await w.replicaSet('web')).status).toMatchObject({
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    terminatingReplicas: 0,
    observedGeneration: 1,
  });
  expect((await w.events('web')).map(({ reason }) => reason)).toEqual(Array(3).fill('SuccessfulCreate'));
});

test('minReadySeconds delays availability, and nothing else wakes the ReplicaSet for it', async () => {
  const w = await start();
  await w.client.create(replicaSetType, replicaSet({ name: 'web', replicas: 1, spec: { minReadySeconds: 30 } }));
  await w.settle();
  await w.bringAll();
  const available = async () => (await w.replicaSet('web')).status?.availableReplicas ?? 0;
  expect((await w.replicaSet('web')).status?.readyReplicas).toBe(1);
  expect(await available()).toBe(0);
  await w.advance(29_000);
  expect(await available()).toBe(0);
  await w.advance(1_000);
  expect(await available()).toBe(1);
});

test('S2 12 replicas with a burst of 5 are created as 5, 5 and 2', async () => {
  const { intercept, requests } = refusing(() => false);
  const w = await start({ intercept, burst: 5 });
  await create(w, 12);
  const posts = requests.filter((request) => request.startsWith('POST') && request.endsWith('/pods'));
  expect(posts).toHaveLength(12);
  expect(await w.alive()).toHaveLength(12);
});

test('S3 while creations are expected, other events only update status', async () => {
  const w = await start({ burst: 2 });
  await create(w, 2);
  const before = await w.alive();
  await w.bring(before[0] as string);
  await w.settle();
  expect(await w.alive()).toEqual(before);
  expect((await w.replicaSet('web')).status).toMatchObject({ replicas: 2, readyReplicas: 1 });
});

test('S7 a refused creation becomes ReplicaFailure FailedCreate, and goes with the next clean pass', async () => {
  let full = true;
  const { intercept, requests } = refusing((method, path) => full && method === 'POST' && path.endsWith('/pods'));
  const w = await start({ intercept });
  await w.client.create(replicaSetType, replicaSet({ name: 'web', replicas: 10 }));
  await w.until(async () => (await w.replicaSet('web')).status?.conditions !== undefined);
  expect((await w.replicaSet('web')).status?.conditions).toMatchObject([
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
  ]);
  const posts = requests.filter((request) => request.startsWith('POST') && request.endsWith('/pods'));
  expect(posts.length).toBeLessThan(10);
  full = false;
  await w.advance(60_000);
  expect(await w.alive()).toHaveLength(10);
  expect((await w.replicaSet('web')).status?.conditions ?? []).toEqual([]);
  expect(await w.events('web')).toContainEqual({ reason: 'FailedCreate', message: 'Error creating: exceeded quota' });
});

test('S8 a status that cannot be written is tried on a fresh copy once, then fails', async () => {
  const { intercept, requests } = refusing((method, path) => method === 'PUT' && path.endsWith('/status'));
  const w = await start({ intercept });
  await w.client.create(replicaSetType, replicaSet({ name: 'web', replicas: 0 }));
  await w.settle();
  const about = requests.filter((request) => request.includes('/replicasets/web'));
  expect(about).toEqual([
    'PUT /apis/apps/v1/namespaces/default/replicasets/web/status',
    'GET /apis/apps/v1/namespaces/default/replicasets/web',
    'PUT /apis/apps/v1/namespaces/default/replicasets/web/status',
  ]);
  expect(w.clock.nextDue).toBeDefined();
});

test('S9 a matching pod without owner is adopted instead of creating one', async () => {
  const w = await start();
  await w.client.create(podType, pod({ name: 'orphan', labels: { app: 'web' } }));
  const owner = await create(w, 1);
  expect(await w.alive()).toEqual(['orphan']);
  const adopted = await w.client.get(podType, key('orphan'));
  expect(adopted.metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
});

test('S9 adopted surplus pods are removed like any other', async () => {
  const w = await start();
  await create(w, 1);
  await w.bringAll();
  await w.client.create(podType, pod({ name: 'orphan', labels: { app: 'web' } }));
  await w.settle();
  expect(await w.alive()).toHaveLength(1);
});

test('S10 a pod that another owner controls is left alone', async () => {
  const w = await start();
  const podLabels = { app: 'shared' };
  await w.client.create(replicaSetType, replicaSet({ name: 'first', replicas: 1, podLabels }));
  await w.settle();
  await w.client.create(replicaSetType, replicaSet({ name: 'second', replicas: 1, podLabels }));
  await w.settle();
  const owners = (await w.pods()).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  expect(owners.map(({ name }) => name).sort()).toEqual(['first', 'second']);
});

test('S11 a pod that loses its label is released and replaced, and comes back as surplus', async () => {
  const w = await start();
  await create(w, 1);
  await w.bringAll();
  const [first = ''] = await w.alive();
  const relabel = (app: string) =>
    w.client.patch(podType, key(first), { type: 'merge', body: { metadata: { labels: { app } } } });
  await relabel('gone');
  await w.settle();
  expect((await w.client.get(podType, key(first))).metadata.ownerReferences ?? []).toEqual([]);
  expect(await w.alive()).toHaveLength(2);
  await w.bringAll();
  await relabel('web');
  await w.settle();
  expect(await w.alive()).toHaveLength(1);
});

test('S12 a terminating ReplicaSet neither adopts nor creates', async () => {
  const w = await start();
  await w.client.create(replicaSetType, {
    ...replicaSet({ name: 'web', replicas: 0 }),
    metadata: { name: 'web', namespace: 'default', finalizers: ['example.com/hold'] },
  });
  await w.client.delete(replicaSetType, key('web'));
  await w.settle();
  await w.client.create(podType, pod({ name: 'orphan', labels: { app: 'web' } }));
  await w.client.patch(replicaSetType, key('web'), { type: 'merge', body: { spec: { replicas: 3 } } });
  await w.settle();
  expect(await w.alive()).toEqual(['orphan']);
  expect((await w.client.get(podType, key('orphan'))).metadata.ownerReferences ?? []).toEqual([]);
});

test('S12 a ReplicaSet that is only live terminating does not adopt, and its pass fails', async () => {
  const intercept =
    (inner: Transport): Transport =>
    async (request) => {
      const response = await inner(request);
      if (request.method !== 'GET' || !request.path.endsWith('/replicasets/web')) return response;
      const object = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as {
        metadata: { deletionTimestamp?: string };
      };
      object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      return { ...response, body: Buffer.from(JSON.stringify(object)) };
    };
  const w = await start({ intercept });
  await w.client.create(podType, pod({ name: 'orphan', labels: { app: 'web' } }));
  await w.client.create(replicaSetType, replicaSet({ name: 'web', replicas: 2 }));
  await w.settle();
  expect(await w.alive()).toEqual(['orphan']);
  expect((await w.client.get(podType, key('orphan'))).metadata.ownerReferences ?? []).toEqual([]);
});

test('S13 a terminating and a Failed pod are both replaced', async () => {
  const w = await start();
  await create(w, 2);
  await w.bringAll();
  const [first = '', second = ''] = await w.alive();
  await w.client.delete(podType, key(first));
  await w.bring(second, { phase: 'Failed', ready: false });
  await w.settle();
  const pods = await w.pods();
  const active = pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== 'Failed');
  expect(active).toHaveLength(2);
  expect((await w.replicaSet('web')).status).toMatchObject({ replicas: 2, terminatingReplicas: 1 });
});

test('S14 a ReplicaSet made anew under the same name starts afresh', async () => {
  const w = await start();
  await create(w, 2);
  await w.client.delete(replicaSetType, key('web'), { propagationPolicy: 'Background' });
  for (const name of await w.alive()) await w.client.delete(podType, key(name), { gracePeriodSeconds: 0 });
  await create(w, 3);
  expect(await w.alive()).toHaveLength(3);
});

test('S6 a pod that was already terminating when first seen does not count as created', async () => {
  const w = await start();
  const owner = await create(w, 1);
  await w.client.create(podType, {
    ...pod({ name: 'late', labels: { app: 'web' } }),
    metadata: {
      name: 'late',
      namespace: 'default',
      labels: { app: 'web' },
      finalizers: ['example.com/hold'],
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: owner.metadata.uid ?? '', controller: true },
      ],
    },
  });
  await w.client.delete(podType, key('late'));
  await w.settle();
  expect((await w.replicaSet('web')).status).toMatchObject({ replicas: 1, terminatingReplicas: 1 });
});

test('D22 a downscale takes unassigned, pending and unready pods before Ready ones', async () => {
  const w = await start();
  await create(w, 5);
  const [a = '', b = '', c = '', d = ''] = await w.alive();
  await w.bring(a, { node: 'n1' });
  await w.bring(b, { node: 'n2' });
  await w.bring(c, { ready: false });
  await w.bring(d, { phase: 'Pending', ready: false });
  await w.settle();
  await w.scale(replicaSetType, 'web', 2);
  expect((await w.alive()).sort()).toEqual([a, b].sort());
});

test('D19 without a controller owner the pods of a crowded node are not preferred', async () => {
  const w = await start();
  await create(w, 4);
  const names = await w.alive();
  for (const [index, name] of names.entries()) await w.bring(name, { node: index < 3 ? 'n1' : 'n2', restarts: index });
  await w.settle();
  await w.scale(replicaSetType, 'web', 3);
  expect(await w.alive()).not.toContain(names[3]);
});

test('a downscale to zero takes every pod', async () => {
  const w = await start();
  await create(w, 4);
  await w.bringAll();
  await w.scale(replicaSetType, 'web', 0);
  expect(await w.alive()).toEqual([]);
  expect((await w.replicaSet('web')).status).toMatchObject({ replicas: 0, terminatingReplicas: 4 });
  await w.reap();
  expect((await w.replicaSet('web')).status).toMatchObject({ replicas: 0, terminatingReplicas: 0 });
});

test('D13 a deletion cost that cannot be read is refused at admission', async () => {
  const w = await start();
  const annotations = (cost: string) => ({ 'controller.kubernetes.io/pod-deletion-cost': cost });
  const create = (cost: string) => w.client.create(podType, pod({ name: 'p', annotations: annotations(cost) }));
  await expect(create('+10')).rejects.toThrow(
    'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+10": must be a 32bit integer',
  );
  await create('10');
  const change = w.client.patch(podType, key('p'), {
    type: 'merge',
    body: { metadata: { annotations: annotations('x') } },
  });
  await expect(change).rejects.toThrow('must be a 32bit integer');
});
