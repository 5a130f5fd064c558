import { afterEach, expect, test } from 'vitest';
import { builtinType } from '../api/registry.ts';
import { configMapType, podType } from './types.ts';
import {
  type ApiError,
  defineController,
  isConflict,
  isInvalid,
  isNotFound,
  onDefect,
  watch,
} from '../machinery/runtime/index.ts';
import { type ControlPlane, configMap, pod, startControlPlane } from './index.ts';

let plane: ControlPlane | undefined;
const start = async (): Promise<ControlPlane> => {
  plane = await startControlPlane();
  return plane;
};
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

test('a created object reads back as it was stored', async () => {
  const { client } = await start();
  const created = await client.create(podType, pod({ name: 'a' }));
  expect(created.metadata).toMatchObject({ name: 'a', namespace: 'default', generation: 1 });
  expect(created.spec).toMatchObject({ restartPolicy: 'Always', schedulerName: 'default-scheduler' });
  expect(created.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  expect(await client.get(podType, { namespace: 'default', name: 'a' })).toEqual(created);
});

test('a write that changes nothing keeps the resourceVersion', async () => {
  const { client } = await start();
  const created = await client.create(configMapType, configMap({ data: { a: '1' } }));
  const same = await client.update(configMapType, created);
  expect(same.metadata?.resourceVersion).toBe(created.metadata?.resourceVersion);
});

test('an update with an old resourceVersion is a conflict', async () => {
  const { client } = await start();
  const first = await client.create(configMapType, configMap({ data: { a: '1' } }));
  await client.update(configMapType, { ...first, data: { a: '2' } });
  const late = client.update(configMapType, { ...first, data: { a: '3' } });
  await expect(late).rejects.toSatisfy(isConflict);
});

test('concurrent patches all land', async () => {
  const { client } = await start();
  await client.create(configMapType, configMap({ name: 'm', data: {} }));
  const key = { namespace: 'default', name: 'm' };
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      client.patch(configMapType, key, { type: 'merge', body: { data: { [`k${index}`]: 'x' } } }),
    ),
  );
  expect(Object.keys((await client.get(configMapType, key)).data ?? {})).toHaveLength(30);
});

test('a watch sees every change in order, from the revision it starts at', async () => {
  const { client } = await start();
  const first = await client.create(configMapType, configMap({ name: 'w', data: { n: '0' } }));
  const abort = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    const events = client.watch(configMapType, {
      namespace: 'default',
      resourceVersion: first.metadata?.resourceVersion,
      signal: abort.signal,
    });
    for await (const event of events) {
      seen.push(`${event.type} ${event.object.data?.['n']}`);
      if (event.type === 'DELETED') return;
    }
  })();
  await client.update(configMapType, {
    ...first,
    metadata: { ...first.metadata, resourceVersion: '' },
    data: { n: '1' },
  });
  await client.delete(configMapType, { namespace: 'default', name: 'w' });
  await watching;
  expect(seen).toEqual(['MODIFIED 1', 'DELETED 1']);
});

test('a list in chunks is one snapshot', async () => {
  const { client } = await start();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(configMapType, configMap({ name }));
  const page = await client.list(configMapType, { namespace: 'default', limit: 2 });
  expect(page.items.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
  expect(page.metadata.remainingItemCount).toBe(3);
  await client.delete(configMapType, { namespace: 'default', name: 'd' });
  const rest = await client.list(configMapType, { namespace: 'default', continue: page.metadata.continue });
  expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(['c', 'd', 'e']);
  expect(rest.metadata.resourceVersion).toBe(page.metadata.resourceVersion);
});

test('a pod on a node is given its grace period, one without is removed at once', async () => {
  const { client } = await start();
  await client.create(podType, pod({ name: 'bound', spec: { nodeName: 'n1' } }));
  await client.create(podType, pod({ name: 'free' }));
  await client.delete(podType, { namespace: 'default', name: 'bound' });
  await client.delete(podType, { namespace: 'default', name: 'free' });
  const bound = await client.get(podType, { namespace: 'default', name: 'bound' });
  expect(bound.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
  await expect(client.get(podType, { namespace: 'default', name: 'free' })).rejects.toSatisfy(isNotFound);
});

test('an invalid object names every bad field', async () => {
  const { client } = await start();
  const bad = client.create(podType, pod({ name: 'bad', spec: { containers: [], restartPolicy: 'Sometimes' } }));
  await expect(bad).rejects.toSatisfy(isInvalid);
  const error = (await bad.catch((caught: unknown) => caught)) as ApiError;
  expect(error.causes.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
    'spec.containers FieldValueRequired',
    'spec.restartPolicy FieldValueNotSupported',
  ]);
});

test('a namespace that is missing takes nothing', async () => {
  const { client } = await start();
  const late = client.create(configMapType, configMap({ namespace: 'nowhere' }));
  await expect(late).rejects.toThrow('namespaces "nowhere" not found');
});

test('a scale changes the replicas of its workload', async () => {
  const { client } = await start();
  const type = builtinType('ReplicaSet', 'apps');
  const { replicaSet } = await import('./index.ts');
  await client.create(type, replicaSet({ name: 'r', replicas: 2 }));
  await client.patch(
    type,
    { namespace: 'default', name: 'r' },
    { type: 'merge', body: { spec: { replicas: 5 } } },
    { subresource: 'scale' },
  );
  const scale = await client.get(type, { namespace: 'default', name: 'r' }, { subresource: 'scale' });
  expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 5 }, status: { replicas: 0, selector: 'app=r' } });
});

test('binding assigns a pod once and leaves its generation', async () => {
  const { client } = await start();
  await client.create(podType, pod({ name: 'p' }));
  const bind = (name?: string) =>
    client.createSubresource(podType, { namespace: 'default', name: 'p' }, 'binding', {
      metadata: { name },
      target: { kind: 'Node', name: 'n1' },
    });
  for (const name of [undefined, 'q']) {
    await expect(bind(name)).rejects.toThrow('name in URL does not match name in Binding object');
  }
  await bind('p');
  const bound = await client.get(podType, { namespace: 'default', name: 'p' });
  expect(bound.spec?.nodeName).toBe('n1');
  expect(bound.metadata?.generation).toBe(1);
  await expect(bind('p')).rejects.toThrow('pod p is already assigned to node "n1"');
});

test('what was made in a dry run is not there', async () => {
  const { client } = await start();
  const made = await client.create(configMapType, configMap({ name: 'dry' }), { dryRun: true });
  expect(made.metadata?.uid).toBeDefined();
  await expect(client.get(configMapType, { namespace: 'default', name: 'dry' })).rejects.toSatisfy(isNotFound);
});

test('19.6: who changes an object that others hold too is found out', async () => {
  const defects: Error[] = [];
  onDefect((error) => defects.push(error));
  const careless = defineController({
    name: 'careless',
    deps: ({ informers }) => informers.of(podType),
    watches: (pods) => [
      watch(pods, ({ metadata }) => {
        (metadata.labels ??= {})['seen'] = 'true';
      }),
    ],
    reconcile: () => Promise.resolve({}),
  });
  plane = await startControlPlane({ controllers: [careless] });
  await plane.client.create(podType, pod({ name: 'p', labels: { app: 'a' } }));
  await plane.settle();
  expect(defects).toHaveLength(1);
  expect(defects[0]).toBeInstanceOf(TypeError);
});
