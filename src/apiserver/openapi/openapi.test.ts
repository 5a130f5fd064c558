import { expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../machinery/values/index.ts';
import { ProtobufReader } from '../codec/protobuf/reader.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import { builtinResources } from '../kinds/resources.ts';
import { Registry } from '../registry/registry.ts';
import { ALL_VERBS, type Resource } from '../registry/resource.ts';
import { ApiError } from '../exchange/status.ts';
import { OpenApi, openApiRoute } from './index.ts';

const widget = (schema: unknown): Resource => ({
  group: 'example.com',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  singular: 'widget',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ALL_VERBS,
  versions: [{ name: 'v1' }],
  stored: { group: 'example.com', version: 'v1' },
  prefix: '/widgets/',
  strategy: {},
  subresources: new Map(),
  custom: true,
  schemaFor: () => schema,
});

const specSchema = {
  type: 'object',
  description: 'A widget.',
  properties: {
    spec: {
      type: 'object',
      required: ['size', 'maybe'],
      properties: {
        size: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        maybe: { type: 'string', nullable: true },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
      },
    },
  },
};

const registry = new Registry();
for (const resource of builtinResources()) registry.add(resource);
registry.add(widget(specSchema));
const openapi = new OpenApi(registry);
const documentOf = (path: string): JsonObject => {
  const found = openapi.groupVersion(path);
  if (found === undefined) throw new Error(`not served: ${path}`);
  return JSON.parse(found.body.toString()) as JsonObject;
};
const at = (value: unknown, ...path: string[]): unknown => {
  let found = value;
  for (const step of path) found = isObject(found) ? found[step] : undefined;
  return found;
};

function refsOf(value: unknown, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) for (const item of value) refsOf(item, found);
  else if (isObject(value)) {
    if (typeof value.$ref === 'string') found.add(value.$ref);
    for (const member of Object.values(value)) refsOf(member, found);
  }
  return found;
}

test('every reference of every document leads somewhere', async () => {
  const index = JSON.parse(openapi.index().body.toString()) as { paths: Record<string, unknown> };
  expect(Object.keys(index.paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/example.com/v1']));
  for (const path of Object.keys(index.paths)) {
    const document = documentOf(path);
    const schemas = at(document, 'components', 'schemas') as JsonObject;
    for (const ref of refsOf(document)) expect(schemas).toHaveProperty([ref.replace('#/components/schemas/', '')]);
  }
  const swagger = JSON.parse((await openapi.swagger()).body.toString()) as JsonObject;
  for (const ref of refsOf(swagger)) expect(swagger.definitions).toHaveProperty([ref.replace('#/definitions/', '')]);
});

test('kubectl finds field validation and strategic merge at the patch of a built-in kind', () => {
  const document = documentOf('apis/apps/v1');
  const patch = at(document, 'paths', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}', 'patch') as JsonObject;
  expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
  expect(patch.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }));
  expect(at(patch, 'requestBody', 'content')).toHaveProperty(['application/strategic-merge-patch+json']);
});

test('definitions carry merge keys, list types, kinds and our descriptions', () => {
  const schemas = at(documentOf('api/v1'), 'components', 'schemas') as JsonObject;
  expect(at(schemas, 'io.k8s.api.core.v1.PodSpec', 'properties', 'containers')).toMatchObject({
    type: 'array',
    'x-kubernetes-patch-merge-key': 'name',
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  });
  expect(schemas['io.k8s.api.core.v1.Pod']).toMatchObject({
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }],
  });
  const policy = at(documentOf('apis/policy/v1'), 'components', 'schemas') as JsonObject;
  expect(
    at(policy, 'io.k8s.api.policy.v1.PodDisruptionBudgetSpec', 'properties', 'minAvailable', 'description'),
  ).toMatch(/must stay available/);
  expect(at(policy, 'io.k8s.api.policy.v1.PodDisruptionBudgetSpec', 'properties', 'selector')).toMatchObject({
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' }],
  });
});

test('a custom resource is described by its own schema and takes no strategic merge', () => {
  const document = documentOf('apis/example.com/v1');
  const schemas = at(document, 'components', 'schemas') as JsonObject;
  expect(schemas['com.example.v1.Widget']).toMatchObject({
    description: 'A widget.',
    properties: { spec: specSchema.properties.spec, kind: { type: 'string' } },
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
  });
  expect(at(schemas, 'com.example.v1.WidgetList', 'properties', 'items', 'items')).toEqual({
    $ref: '#/components/schemas/com.example.v1.Widget',
  });
  const content = at(
    document,
    'paths',
    '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}',
    'patch',
    'requestBody',
    'content',
  );
  expect(Object.keys(content as JsonObject)).toEqual([
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
});

test('version 2 leaves open what it cannot say of a custom resource', async () => {
  const swagger = JSON.parse((await openapi.swagger()).body.toString()) as JsonObject;
  expect(at(swagger, 'definitions', 'com.example.v1.Widget', 'properties', 'spec')).toEqual({
    type: 'object',
    required: ['size'],
    properties: {
      size: { 'x-kubernetes-int-or-string': true },
      maybe: {},
      any: { 'x-kubernetes-preserve-unknown-fields': true },
    },
  });
});

test.each([
  ['no schema', undefined],
  ['a schema that preserves everything', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
])('version 2 of a custom resource with %s names no fields, as clients would take them for all', async (_, schema) => {
  const own = new Registry();
  own.add(widget(schema));
  const swagger = JSON.parse((await new OpenApi(own).swagger()).body.toString()) as JsonObject;
  expect(at(swagger, 'definitions', 'com.example.v1.Widget')).toEqual({
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
  });
});

/** Names of the entries of `Document.paths` (8 → 2) and `Document.definitions` (9 → 1). */
function namesInProtobuf(bytes: Buffer): { paths: string[]; definitions: string[] } {
  const found = { paths: [] as string[], definitions: [] as string[] };
  const document = new ProtobufReader(bytes);
  while (!document.done) {
    const { number, wire } = document.tag();
    if (number !== 8 && number !== 9) {
      document.skip(wire);
      continue;
    }
    const entries = document.message();
    while (!entries.done) {
      entries.tag();
      const entry = entries.message();
      entry.tag();
      found[number === 8 ? 'paths' : 'definitions'].push(entry.text());
    }
  }
  return found;
}

test('the protobuf form of version 2 holds the same paths and definitions', async () => {
  const swagger = JSON.parse((await openapi.swagger()).body.toString()) as { paths: object; definitions: object };
  const names = namesInProtobuf((await openapi.swaggerProtobuf()).body);
  expect(names.paths.sort()).toEqual(Object.keys(swagger.paths).sort());
  expect(names.definitions.sort()).toEqual(Object.keys(swagger.definitions).sort());
});

const route = openApiRoute(openapi);
const get = async (url: string, headers: Record<string, string> = {}): Promise<ApiResponse> => {
  const request: ApiRequest = {
    method: 'GET',
    url,
    headers,
    body: undefined,
    signal: new AbortController().signal,
    peer: {},
  };
  const answer = route.handle(request, url.split('?', 1)[0] ?? '', {
    username: 'u',
    groups: [],
    extra: {},
    uid: '',
  } as never);
  if (answer === undefined) throw new Error('must answer');
  return await answer;
};

test('the route redirects stale hashes, caches right ones for good, and knows what the client has', async () => {
  const index = JSON.parse(((await get('/openapi/v3')).body as Buffer).toString()) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const url = index.paths['api/v1']?.serverRelativeURL ?? '';
  expect(await get(url)).toMatchObject({
    status: 200,
    headers: { 'cache-control': expect.stringContaining('immutable') },
  });
  expect(await get('/openapi/v3/api/v1?hash=OLD')).toMatchObject({ status: 301, headers: { location: url } });
  const { etag } = (await get('/openapi/v2')).headers;
  expect((await get('/openapi/v2', { 'if-none-match': etag as string })).status).toBe(304);
});

test('the route answers version 2 in protobuf when asked, and refuses what it does not have', async () => {
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  expect((await get('/openapi/v2', { accept })).headers['content-type']).toBe(
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  );
  await expect(get('/openapi/v2', { accept: 'text/html' })).rejects.toThrow(ApiError);
  await expect(get('/openapi/v3/apis/none/v1')).rejects.toThrow(ApiError);
});

test('documents follow the registry', async () => {
  const own = new Registry();
  const resource = widget(specSchema);
  own.add(resource);
  const served = new OpenApi(own);
  const before = (await served.swagger()).hash;
  own.remove(resource);
  expect(served.groupVersion('apis/example.com/v1')).toBeUndefined();
  own.add(widget({ ...specSchema, description: 'Changed.' }));
  expect((await served.swagger()).hash).not.toBe(before);
});

test('17.11: the first document of everything is made in many turns, in JSON and in protobuf', async () => {
  const served = new OpenApi(registry);
  for (const build of [() => served.swagger(), () => served.swaggerProtobuf()]) {
    let turns = 0;
    let done = false;
    const document = build().finally(() => (done = true));
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    expect(turns).toBeGreaterThan(50);
    // The next one is there: whoever asks waits for nothing.
    expect(await build()).toBe(await document);
  }
});
