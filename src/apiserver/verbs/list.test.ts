import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiError } from '../../machinery/runtime/index.ts';
import { type ControlPlane, configMap, startControlPlane } from '../../testkit/index.ts';
import { configMapType } from '../../testkit/types.ts';

let plane: ControlPlane;
const PATH = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  plane = await startControlPlane();
  for (const name of ['a', 'b', 'c']) {
    await plane.client.create(configMapType, configMap({ name, labels: { letter: name, odd: String(name !== 'b') } }));
  }
});
afterAll(() => plane.stop());

interface List {
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: { kind?: string; metadata: { name: string } }[];
}

const list = (query: string): Promise<List> => plane.client.request<List>('GET', `${PATH}?${query}`);
const names = async (query: string): Promise<string[]> =>
  (await list(query)).items.map(({ metadata }) => metadata.name);
const refusal = async (query: string): Promise<number> =>
  ((await list(query).catch((error: unknown) => error)) as ApiError).code;

const selectors = [
  { query: 'labelSelector=letter%3Da', want: ['a'] },
  { query: 'labelSelector=letter!%3Da', want: ['b', 'c'] },
  { query: 'labelSelector=letter+in+(a,b)', want: ['a', 'b'] },
  { query: 'labelSelector=letter+notin+(a,b)', want: ['c'] },
  { query: 'labelSelector=letter,odd%3Dtrue', want: ['a', 'c'] },
  { query: 'labelSelector=!letter', want: [] },
  { query: 'fieldSelector=metadata.name%3Db', want: ['b'] },
  { query: 'fieldSelector=metadata.name!%3Db', want: ['a', 'c'] },
  { query: 'fieldSelector=metadata.name%3Db&labelSelector=odd%3Dtrue', want: [] },
];
for (const { query, want } of selectors) {
  test(`list selects with ${decodeURIComponent(query)}`, async () => expect(await names(query)).toEqual(want));
}

const refused = [
  { query: 'labelSelector=a+in+(', code: 400 },
  { query: 'fieldSelector=spec.nothing%3D1', code: 400 },
  { query: 'resourceVersion=abc', code: 400 },
  { query: 'resourceVersionMatch=Exact', code: 422 },
  { query: 'resourceVersion=0&resourceVersionMatch=Exact', code: 422 },
  { query: 'resourceVersion=1&resourceVersionMatch=Sometimes', code: 422 },
  { query: 'continue=garbage', code: 400 },
  { query: 'limit=1&continue=e30&resourceVersion=5', code: 400 },
];
for (const { query, code } of refused) {
  test(`list refuses ${query} with ${code}`, async () => expect(await refusal(query)).toBe(code));
}

test('items leave out kind and apiVersion, and an empty list is a list', async () => {
  expect((await list('')).items[0]).not.toHaveProperty('kind');
  expect((await list('labelSelector=nothing')).items).toEqual([]);
});

test('remainingItemCount is told only without selectors', async () => {
  const plain = await list('limit=1');
  expect(plain.metadata.remainingItemCount).toBe(2);
  const selected = await list('limit=1&labelSelector=letter');
  expect(selected.metadata.continue).toBeDefined();
  expect(selected.metadata.remainingItemCount).toBeUndefined();
});

test('resourceVersion 0 ignores the limit', async () => {
  const page = await list('limit=1&resourceVersion=0');
  expect(page.items).toHaveLength(3);
  expect(page.metadata.continue).toBeUndefined();
});

test('an exact resourceVersion shows the past', async () => {
  const before = (await list('')).metadata.resourceVersion;
  await plane.client.create(configMapType, configMap({ name: 'later' }));
  expect(await names(`resourceVersion=${before}&resourceVersionMatch=Exact`)).toEqual(['a', 'b', 'c']);
  expect(await names(`resourceVersion=${before}&resourceVersionMatch=NotOlderThan`)).toContain('later');
  await plane.client.delete(configMapType, { namespace: 'default', name: 'later' });
});

test('a continue token outlives its snapshot: 410 with a token that goes on with current data', async () => {
  const first = await list('limit=1');
  await plane.client.patch(
    configMapType,
    { namespace: 'default', name: 'c' },
    { type: 'merge', body: { data: { x: '1' } } },
  );
  plane.store.compact(plane.store.revision);
  const gone = (await list(`limit=1&continue=${first.metadata.continue}`).catch((error: unknown) => error)) as ApiError;
  expect(gone.code).toBe(410);
  expect(gone.status.reason).toBe('Expired');
  const rest = await list(`continue=${gone.status.metadata?.continue}`);
  expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['b', 'c']);
});

test('a resourceVersion from the future is waited for, then refused', async () => {
  const late = list(`resourceVersion=${plane.store.revision + 1000}`).catch((error: unknown) => error);
  await plane.clock.advance(3000);
  const error = (await late) as ApiError;
  expect(error.code).toBe(504);
  expect(error.causes).toEqual([{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]);
});

test('a table has the columns of the kind and metadata in its rows', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const table = await plane.client.request<{
    kind: string;
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[]; object: { kind: string; metadata: { name: string } } }[];
  }>('GET', PATH, undefined, { accept });
  expect(table.kind).toBe('Table');
  expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
  expect(table.rows[0]).toMatchObject({ cells: ['a', '0', '3s'], object: { kind: 'PartialObjectMetadata' } });
});

test('metadata alone can be listed, and a transformation that does not fit is 406', async () => {
  const as = (name: string) => ({ accept: `application/json;as=${name};v=v1;g=meta.k8s.io` });
  const partial = await plane.client.request<List>('GET', PATH, undefined, as('PartialObjectMetadataList'));
  expect(partial.kind).toBe('PartialObjectMetadataList');
  expect(Object.keys(partial.items[0] ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  const wrong = plane.client.request('GET', PATH, undefined, as('PartialObjectMetadata'));
  await expect(wrong).rejects.toMatchObject({ code: 406 });
});
