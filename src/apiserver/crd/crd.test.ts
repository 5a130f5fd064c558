import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Client, createClient, ManualClock, settle } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { inProcessTransport } from '../server/in-process.ts';
import { builtinResources } from '../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../server/server.ts';
import { CRDS, definition, version, WIDGETS, widget } from './crd.fixture.ts';
import { CustomResources, cleanupBeforeDeletion } from './custom-resources.ts';

let server: ApiServer;
let client: Client;
let resources: CustomResources;

beforeEach(async () => {
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock: new ManualClock(),
    admission: (context) => [cleanupBeforeDeletion(context)],
  });
  resources = new CustomResources(server.context);
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
});
afterEach(() => {
  resources.stop();
  server.close();
});

async function define(body: object = definition()): Promise<void> {
  await client.request('POST', CRDS, body);
  await settle();
}

test('a definition becomes established, shows up in discovery and serves its objects', async () => {
  await define();
  expect(await client.request('GET', `${CRDS}/widgets.example.com`)).toMatchObject({
    spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
    status: {
      acceptedNames: { plural: 'widgets', kind: 'Widget' },
      storedVersions: ['v1'],
      conditions: [
        { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
        { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
      ],
    },
  });
  expect(await client.request('GET', '/apis/example.com/v1')).toMatchObject({
    resources: [{ name: 'widgets', kind: 'Widget', namespaced: true, shortNames: ['wd'] }],
  });
  await client.request('POST', WIDGETS, widget('a', { spec: { size: 3 } }));
  expect(await client.request('GET', WIDGETS)).toMatchObject({
    kind: 'WidgetList',
    items: [{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { generation: 1 }, spec: { size: 3 } }],
  });
});

test('definitions are served again after a restart', async () => {
  await define();
  await client.request('POST', WIDGETS, widget('a'));
  resources.stop();
  const second = createApiServer({ store: server.context.store, resources: builtinResources() });
  const again = new CustomResources(second.context);
  const other = createClient({ transport: inProcessTransport(second.handle), userAgent: 'test' });
  expect(await other.request('GET', `${WIDGETS}/a`)).toMatchObject({ metadata: { name: 'a' } });
  again.stop();
});

test('all served versions show the same objects', async () => {
  await define(definition([version('v1'), version('v2beta1'), version('v2', { served: false })]));
  await client.request('POST', WIDGETS, widget('a', { spec: { size: 3 } }));
  const path = '/apis/example.com/v2beta1/namespaces/team/widgets';
  expect(await client.request('GET', `${path}/a`)).toMatchObject({
    apiVersion: 'example.com/v2beta1',
    spec: { size: 3 },
  });
  await expect(client.request('GET', '/apis/example.com/v2/namespaces/team/widgets')).rejects.toMatchObject({
    code: 404,
  });
});

test('with a status subresource, status and the rest are written apart', async () => {
  await define(definition([version('v1', { subresources: { status: {}, scale: SCALE } })]));
  const made = await client.request<{ metadata: { resourceVersion: string } }>(
    'POST',
    WIDGETS,
    widget('a', { spec: { replicas: 2 }, status: { replicas: 9 } }),
  );
  expect(made).not.toHaveProperty('status');
  await client.request('PUT', `${WIDGETS}/a/status`, {
    ...widget('a', { spec: { replicas: 7 }, status: { replicas: 1 } }),
    metadata: { name: 'a', resourceVersion: made.metadata.resourceVersion },
  });
  expect(await client.request('GET', `${WIDGETS}/a`)).toMatchObject({
    metadata: { generation: 1 },
    spec: { replicas: 2 },
    status: { replicas: 1 },
  });
  await client.request('PATCH', `${WIDGETS}/a/scale`, { spec: { replicas: 5 } }, MERGE);
  expect(await client.request('GET', `${WIDGETS}/a/scale`)).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 5 },
    status: { replicas: 1 },
  });
  expect(await client.request('GET', `${WIDGETS}/a`)).toMatchObject({ metadata: { generation: 2 } });
});
const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const MERGE = { 'content-type': 'application/merge-patch+json' };

test('printer columns and selectable fields follow the definition', async () => {
  const columns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ];
  const fields = [{ jsonPath: '.spec.color' }];
  await define(definition([version('v1', { additionalPrinterColumns: columns, selectableFields: fields })]));
  const status = {
    conditions: [
      { type: 'Other', status: 'x' },
      { type: 'Ready', status: 'True' },
    ],
  };
  await client.request('POST', WIDGETS, widget('a', { spec: { size: 3, color: 'red' }, status }));
  await client.request('POST', WIDGETS, widget('b', { spec: { color: 'blue' } }));
  const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  expect(await client.request('GET', WIDGETS, undefined, table)).toMatchObject({
    columnDefinitions: [{ name: 'Name' }, { name: 'Size' }, { name: 'Ready' }],
    rows: [{ cells: ['a', 3, 'True'] }, { cells: ['b', null, null] }],
  });
  expect(await client.request('GET', `${WIDGETS}?fieldSelector=spec.color%3Dblue`)).toMatchObject({
    items: [{ metadata: { name: 'b' } }],
  });
  await expect(client.request('GET', `${WIDGETS}?fieldSelector=spec.size%3D3`)).rejects.toMatchObject({ code: 400 });
});

test('a second definition with a taken name is not established until the name is free', async () => {
  await define();
  const second = {
    ...definition([version('v1')], { plural: 'gadgets', singular: 'gadget', kind: 'Widget', shortNames: [] }),
    metadata: { name: 'gadgets.example.com' },
  };
  await define(second);
  expect(await client.request('GET', `${CRDS}/gadgets.example.com`)).toMatchObject({
    status: {
      conditions: [
        { type: 'NamesAccepted', status: 'False', reason: 'KindConflict', message: '"Widget" is already in use' },
        { type: 'Established', status: 'False', reason: 'NotAccepted' },
      ],
    },
  });
  await client.request('DELETE', `${CRDS}/widgets.example.com`);
  await settle();
  await client.request('GET', '/apis/example.com/v1/namespaces/team/gadgets');
});

test('deleting a definition deletes its objects first and waits for their finalizers', async () => {
  await define();
  await client.request('POST', WIDGETS, widget('a'));
  await client.request('POST', WIDGETS, {
    ...widget('held'),
    metadata: { name: 'held', finalizers: ['example.com/hold'] },
  });
  await client.request('DELETE', `${CRDS}/widgets.example.com`);
  await settle();
  expect(await client.request('GET', `${CRDS}/widgets.example.com`)).toMatchObject({
    metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
    status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Terminating', status: 'True' })]) },
  });
  expect(await client.request('GET', WIDGETS)).toMatchObject({ items: [{ metadata: { name: 'held' } }] });
  await expect(client.request('POST', WIDGETS, widget('new'))).rejects.toMatchObject({ code: 405 });
  const release = [{ op: 'remove', path: '/metadata/finalizers' }];
  await client.request('PATCH', `${WIDGETS}/held`, release, { 'content-type': 'application/json-patch+json' });
  await settle();
  await expect(client.request('GET', `${CRDS}/widgets.example.com`)).rejects.toMatchObject({ code: 404 });
  await expect(client.request('GET', WIDGETS)).rejects.toMatchObject({ code: 404 });
});

test('watches of objects end when their definition goes', async () => {
  await define();
  const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { type } of client.watch(widgets, { namespace: 'team' })) seen.push(type);
  })();
  await settle();
  await client.request('POST', WIDGETS, widget('a'));
  await client.request('DELETE', `${CRDS}/widgets.example.com`);
  await watching;
  expect(seen).toEqual(['ADDED', 'DELETED']);
  await expect(client.request('GET', WIDGETS)).rejects.toMatchObject({ code: 404 });
});

const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        limit: { type: 'integer' },
      },
      'x-kubernetes-validations': [
        { rule: '!has(self.limit) || self.size <= self.limit', message: 'size above limit' },
        { rule: 'self.size >= oldSelf.size', message: 'size may only grow' },
      ],
    },
  },
};

test('objects are pruned, defaulted and validated by their schema', async () => {
  await define(definition([version('v1', { schema: { openAPIV3Schema: SCHEMA } })]));
  const made = await client.request<object>('POST', WIDGETS, widget('a', { spec: { size: 3, extra: true } }));
  expect(made).toMatchObject({ spec: { size: 3, color: 'red' } });
  expect(made).not.toHaveProperty('spec.extra');
  await expect(
    client.request('POST', WIDGETS, widget('b', { spec: { size: 0, color: 'green' } })),
  ).rejects.toMatchObject({
    code: 422,
    status: {
      details: {
        causes: expect.arrayContaining([
          expect.objectContaining({ field: 'spec.size' }),
          expect.objectContaining({ field: 'spec.color', reason: 'FieldValueNotSupported' }),
        ]),
      },
    },
  });
  const strict = `${WIDGETS}?fieldValidation=Strict`;
  await expect(client.request('POST', strict, widget('c', { spec: { size: 1, extra: 1 } }))).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining('strict decoding error: unknown field "spec.extra"'),
  });
});

test('rules of a schema hold for objects and for changes', async () => {
  await define(definition([version('v1', { schema: { openAPIV3Schema: SCHEMA } })]));
  await expect(client.request('POST', WIDGETS, widget('a', { spec: { size: 3, limit: 2 } }))).rejects.toMatchObject({
    code: 422,
    message: 'Widget.example.com "a" is invalid: spec: Invalid value: size above limit',
  });
  await client.request('POST', WIDGETS, widget('a', { spec: { size: 3 } }));
  await expect(client.request('PATCH', `${WIDGETS}/a`, { spec: { size: 2 } }, MERGE)).rejects.toMatchObject({
    message: 'Widget.example.com "a" is invalid: spec: Invalid value: size may only grow',
  });
  await client.request('PATCH', `${WIDGETS}/a`, { spec: { size: 4 } }, MERGE);
});

test('a default added to the schema later shows on objects stored before', async () => {
  const { properties } = SCHEMA;
  const plain = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
  await define(definition([version('v1', { schema: { openAPIV3Schema: plain } })]));
  await client.request('POST', WIDGETS, widget('a', { spec: { size: 3 } }));
  const added = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties', value: properties }];
  const json = { 'content-type': 'application/json-patch+json' };
  await client.request('PATCH', `${CRDS}/widgets.example.com`, added, json);
  await settle();
  expect(await client.request('GET', `${WIDGETS}/a`)).toMatchObject({ spec: { size: 3, color: 'red' } });
  expect(await client.request('GET', WIDGETS)).toMatchObject({ items: [{ spec: { color: 'red' } }] });
});

test('what was wrong before a schema became stricter may stay until it is touched', async () => {
  const items = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } } };
  const list = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const schema = (rules: object) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { note: { type: 'string' }, parts: { ...list, items: { ...items, ...rules } } },
        },
      },
    },
  });
  await define(definition([version('v1', { schema: schema({}) })]));
  await client.request('POST', WIDGETS, widget('a', { spec: { parts: [{ name: 'x', size: 1 }] } }));
  const strict = schema({ 'x-kubernetes-validations': [{ rule: 'self.size > 5', message: 'too small' }] });
  const change = [{ op: 'replace', path: '/spec/versions/0/schema', value: strict }];
  await client.request('PATCH', `${CRDS}/widgets.example.com`, change, {
    'content-type': 'application/json-patch+json',
  });
  await settle();
  await client.request('PATCH', `${WIDGETS}/a`, { spec: { note: 'n' } }, MERGE);
  const more = (size: number) => ({
    spec: {
      parts: [
        { name: 'y', size: 9 },
        { name: 'x', size },
      ],
    },
  });
  await client.request('PATCH', `${WIDGETS}/a`, more(1), MERGE);
  await expect(client.request('PATCH', `${WIDGETS}/a`, more(2), MERGE)).rejects.toMatchObject({
    message: expect.stringContaining('spec.parts[1]: Invalid value: too small'),
  });
});

test('rules with an optional old state are asked for new values as well', async () => {
  const rules = [
    { rule: '!oldSelf.hasValue() || self != oldSelf.value()', optionalOldSelf: true, message: 'must move' },
  ];
  const color = { type: 'string', 'x-kubernetes-validations': rules };
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { color } } } },
  };
  await define(definition([version('v1', { schema })]));
  await client.request('POST', WIDGETS, widget('a', { spec: { color: 'red' } }));
  await client.request('PATCH', `${WIDGETS}/a`, { spec: { color: 'blue' } }, MERGE);
  const still = { metadata: { labels: { a: 'b' } } };
  await expect(client.request('PATCH', `${WIDGETS}/a`, still, MERGE)).rejects.toMatchObject({
    message: expect.stringContaining('must move'),
  });
});

test('a rule that names a field the schema does not have, or is no expression, is refused', async () => {
  const schema = (rule: string) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': [{ rule }] },
      },
    },
  });
  for (const [rule, message] of [
    ['self.b == 1', "undefined field 'b'"],
    ['self = 42', 'Syntax error'],
  ] as const) {
    await expect(
      client.request('POST', CRDS, definition([version('v1', { schema: schema(rule) })])),
    ).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(message),
    });
  }
  await define(definition([version('v1', { schema: schema('!has(self.a) || self.a.size() > 0') })]));
});

test('a rule of a resource may ask for its name, whatever the schema says of metadata', async () => {
  const schema = (rule: string) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: { metadata: { type: 'object' }, spec: { type: 'object' } },
      'x-kubernetes-validations': [{ rule, message: 'the name is too long' }],
    },
  });
  const unknown = definition([version('v1', { schema: schema('self.metadata.labels.size() < 3') })]);
  await expect(client.request('POST', CRDS, unknown)).rejects.toMatchObject({
    message: expect.stringContaining("undefined field 'labels'"),
  });
  await define(definition([version('v1', { schema: schema('self.metadata.name.size() < 3') })]));
  await client.request('POST', WIDGETS, widget('ab'));
  await expect(client.request('POST', WIDGETS, widget('abc'))).rejects.toMatchObject({
    message: expect.stringContaining('the name is too long'),
  });
});

test('a schema that is not structural is refused', async () => {
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { properties: { a: { type: 'string' } } } } },
  };
  await expect(client.request('POST', CRDS, definition([version('v1', { schema })]))).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.validation.openAPIV3Schema.properties[spec].type: Required value'),
  });
});

const refused: { name: string; body: object; field: string }[] = [
  { name: 'a wrong name', body: { ...definition(), metadata: { name: 'x.example.com' } }, field: 'metadata.name' },
  {
    name: 'two storage versions',
    body: definition([version('v1'), version('v2', { storage: true })]),
    field: 'spec.versions',
  },
  {
    name: 'a version without schema',
    body: definition([version('v1', { schema: undefined })]),
    field: 'spec.versions[0].schema.openAPIV3Schema',
  },
];
for (const { name, body, field } of refused) {
  test(`a definition with ${name} is refused`, async () => {
    await expect(client.request('POST', CRDS, body)).rejects.toMatchObject({
      code: 422,
      status: { details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) } },
    });
  });
}
