import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLines } from '../../machinery/runtime/index.ts';
import { type ControlPlane, configMap, startControlPlane } from '../../testkit/index.ts';
import { configMapType } from '../../testkit/types.ts';
import { objectKey, type Resource } from '../registry/resource.ts';

let plane: ControlPlane;
let abort: AbortController;
const key = (name: string) => ({ namespace: 'default', name });

beforeEach(async () => {
  plane = await startControlPlane();
  abort = new AbortController();
});
afterEach(async () => {
  abort.abort();
  await plane.stop();
});

interface Seen {
  readonly type: string;
  readonly object: {
    kind: string;
    code?: number;
    message?: string;
    metadata: { name?: string; resourceVersion: string; annotations?: Record<string, string> };
    data?: Record<string, string>;
  };
}

/** Opens a watch and collects what it sends. */
async function open(query: string): Promise<{ status: number; seen: Seen[]; ended: Promise<void> }> {
  const response = await plane.transport({
    method: 'GET',
    path: `/api/v1/namespaces/default/configmaps?watch=1&${query}`,
    signal: abort.signal,
  });
  const seen: Seen[] = [];
  const ended = (async () => {
    for await (const line of readLines(response.body)) seen.push(JSON.parse(line) as Seen);
  })();
  await plane.settle();
  return { status: response.status, seen, ended };
}

const told = (seen: readonly Seen[]) => seen.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());

test('without a resourceVersion the present comes first, then what changes', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  const { seen } = await open('');
  await plane.client.create(configMapType, configMap({ name: 'b' }));
  await plane.settle();
  expect(told(seen)).toEqual(['ADDED a', 'ADDED b']);
});

test('initial events end with a marked bookmark', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  const { seen } = await open('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true');
  expect(told(seen)).toEqual(['ADDED a', 'BOOKMARK']);
  expect(seen[1]?.object).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(plane.store.revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
  });
});

test('without bookmarks allowed, initial events end without a word', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  const { seen } = await open('sendInitialEvents=true&resourceVersionMatch=NotOlderThan');
  expect(told(seen)).toEqual(['ADDED a']);
});

for (const query of [
  'sendInitialEvents=true',
  'resourceVersionMatch=NotOlderThan',
  'sendInitialEvents=true&resourceVersionMatch=Exact',
]) {
  test(`a watch with ${query} is 422`, async () => expect((await open(query)).status).toBe(422));
}

test('leaving a selection is a deletion with the old content and the new revision; entering it an addition', async () => {
  await plane.client.create(configMapType, configMap({ name: 'a', labels: { on: 'yes' }, data: { n: '1' } }));
  const { seen } = await open(`labelSelector=on%3Dyes&resourceVersion=${plane.store.revision}`);
  const label = (on: string, n: string) =>
    plane.client.patch(configMapType, key('a'), { type: 'merge', body: { metadata: { labels: { on } }, data: { n } } });
  const left = await label('no', '2');
  await label('no', '3');
  await label('yes', '4');
  await plane.settle();
  expect(told(seen)).toEqual(['DELETED a', 'ADDED a']);
  expect(seen[0]?.object.data).toEqual({ n: '1' });
  expect(seen[0]?.object.metadata.resourceVersion).toBe(left.metadata?.resourceVersion);
  expect(seen[1]?.object.data).toEqual({ n: '4' });
});

test('a deleted object carries the revision of its deletion', async () => {
  const made = await plane.client.create(configMapType, configMap({ name: 'a' }));
  const { seen } = await open(`resourceVersion=${made.metadata?.resourceVersion}`);
  await plane.client.delete(configMapType, key('a'));
  await plane.settle();
  expect(told(seen)).toEqual(['DELETED a']);
  expect(seen[0]?.object.metadata.resourceVersion).toBe(String(plane.store.revision));
});

test('a revision that left the history gets one ERROR event and the end', async () => {
  const made = await plane.client.create(configMapType, configMap({ name: 'a' }));
  await plane.client.create(configMapType, configMap({ name: 'b' }));
  plane.store.compact(plane.store.revision);
  const { seen, status, ended } = await open(`resourceVersion=${made.metadata?.resourceVersion}`);
  await ended;
  expect(status).toBe(200);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  expect(seen[0]?.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
});

test('a revision from the future stays silent until it is passed', async () => {
  const { seen } = await open(`resourceVersion=${plane.store.revision + 1}`);
  await plane.client.create(configMapType, configMap({ name: 'skipped' }));
  await plane.client.create(configMapType, configMap({ name: 'seen' }));
  await plane.settle();
  expect(told(seen)).toEqual(['ADDED seen']);
});

test('an idle watch gets a bookmark every minute and one before it ends', async () => {
  const { seen, ended } = await open(
    `resourceVersion=${plane.store.revision}&allowWatchBookmarks=true&timeoutSeconds=90`,
  );
  await plane.clock.advance(61_000);
  expect(told(seen)).toEqual(['BOOKMARK']);
  await plane.clock.advance(30_000);
  await ended;
  expect(told(seen)).toEqual(['BOOKMARK', 'BOOKMARK']);
});

test('one object can be watched by name', async () => {
  const { seen } = await open(`fieldSelector=metadata.name%3Db&resourceVersion=${plane.store.revision}`);
  for (const name of ['a', 'b', 'c']) await plane.client.create(configMapType, configMap({ name }));
  await plane.settle();
  expect(told(seen)).toEqual(['ADDED b']);
});

test('a watch of tables sends the columns once', async () => {
  const response = await plane.transport({
    method: 'GET',
    path: '/api/v1/namespaces/default/configmaps?watch=1&allowWatchBookmarks=true',
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    signal: abort.signal,
  });
  const tables: { object: { columnDefinitions: unknown[] | null; rows: { cells: unknown[] }[] } }[] = [];
  void (async () => {
    for await (const line of readLines(response.body)) tables.push(JSON.parse(line));
  })();
  await plane.client.create(configMapType, configMap({ name: 'a' }));
  await plane.client.create(configMapType, configMap({ name: 'b', data: { x: '1' } }));
  await plane.settle();
  expect(tables.map(({ object }) => object.columnDefinitions?.length ?? null)).toEqual([3, null]);
  expect(tables[1]?.object.rows[0]?.cells.slice(0, 2)).toEqual(['b', '1']);
  await plane.clock.advance(61_000);
  expect(tables[2]?.object.rows).toMatchObject([{ cells: [], object: { kind: 'ConfigMap' } }]);
});

test('a watch ends when its resource is no longer served', async () => {
  const { ended } = await open(`resourceVersion=${plane.store.revision}`);
  const { registry } = plane.server.context;
  const resource = registry.byPlural('', 'configmaps');
  if (resource === undefined) throw new Error('configmaps must be served');
  const watches = plane.server.context.streams.size;
  registry.replace(resource, { ...resource });
  expect(plane.server.context.streams.size).toBe(watches);
  const replaced = registry.byPlural('', 'configmaps');
  if (replaced !== undefined) registry.remove(replaced);
  await ended;
});

/** What no server wrote: bytes that are no object. */
async function damage(name: string): Promise<void> {
  const { registry, store } = plane.server.context;
  const resource = registry.byPlural('', 'configmaps') as Resource;
  await store.transact((transaction) => transaction.put(objectKey(resource, 'default', name), () => Buffer.from('{')));
}

for (const when of ['before', 'after']) {
  test(`17, the class: an event that cannot be made ends its watch with an error (${when} it began)`, async () => {
    const others = plane.server.context.streams.size;
    if (when === 'before') await damage('bad');
    const { ended, seen } = await open('labelSelector=a%3Db');
    if (when === 'after') await damage('bad');
    await ended;
    expect(seen.at(-1)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 500 } });
    expect(plane.server.context.streams.size).toBe(others);
  });
}
