import { expect, test } from 'vitest';
import type { Decoded, DecodeRequest } from '../context/codec.ts';
import type { Resource } from '../registry/resource.ts';
import { ApiError } from '../exchange/status.ts';
import { createCodec } from './codec.ts';

const codec = createCodec();
const expected = { apiVersion: 'apps/v1', kind: 'Deployment' };

const resource = (over: Partial<Resource> = {}): Resource => ({
  group: 'apps',
  kind: 'Deployment',
  listKind: 'DeploymentList',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  versions: [{ name: 'v1' }],
  stored: { group: 'apps', version: 'v1' },
  prefix: '/deployments/',
  strategy: {},
  subresources: new Map(),
  custom: false,
  ...over,
});

const decode = (body: string, over: Partial<DecodeRequest> = {}): Decoded =>
  codec.decode({ bytes: Buffer.from(body), mediaType: 'application/json', expected, resource: resource(), ...over });

const failureOf = (run: () => unknown): ApiError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('must fail');
};

test('decode() reports unknown and repeated fields in body order, and drops them', () => {
  const body = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
    "unknown1":"val","unknownDupe":"a","unknownDupe":"b","paused":true,"paused":false,
    "template":{"spec":{"containers":[{"name":"c","unknownNested":1,"imagePullPolicy":"Always","imagePullPolicy":"Never"}]}}}}`;
  const { object, problems } = decode(body);
  expect(problems).toEqual([
    'unknown field "spec.unknown1"',
    'unknown field "spec.unknownDupe"',
    'duplicate field "spec.paused"',
    'unknown field "spec.template.spec.containers[0].unknownNested"',
    'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
  ]);
  expect(object.spec).toEqual({ template: { spec: { containers: [{ name: 'c', imagePullPolicy: 'Never' }] } } });
});

test('decode() names repeated YAML keys by line', () => {
  const body = 'apiVersion: apps/v1\nkind: Deployment\nspec:\n  paused: true\n  paused: false\n  nope: 1\n';
  expect(decode(body, { mediaType: 'application/yaml' }).problems).toEqual([
    'line 5: key "paused" already set in map',
    'unknown field "spec.nope"',
  ]);
});

test('decode() takes the type from the URL when the body has none', () => {
  expect(decode('{"metadata":{"name":"d"}}').object).toEqual({ ...expected, metadata: { name: 'd' } });
});

test.each([
  ['no body', '', 400, 'unexpected end of JSON input'],
  ['no JSON', '{"a"', 400, 'the object provided is unrecognized'],
  ['a list', '[]', 400, 'not an object'],
  [
    'a wrong type',
    '{"spec":{"replicas":"x"}}',
    400,
    'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string',
  ],
  ['a kind nobody knows', '{"apiVersion":"v9","kind":"Foo"}', 400, 'no kind "Foo" is registered for version "v9"'],
])('decode() refuses %s', (_, body, code, message) => {
  const error = failureOf(() => decode(body));
  expect(error.code).toBe(code);
  expect(error.message).toContain(message);
});

const widget = resource({
  group: 'x.io',
  kind: 'Widget',
  custom: true,
  subresources: new Map(),
  schemaFor: () => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  }),
});

test('decode() prunes custom resources by their own schema and refuses them in protobuf', () => {
  const request = { resource: widget, expected: { apiVersion: 'x.io/v1', kind: 'Widget' } };
  const { object, problems } = decode('{"metadata":{"name":"w"},"spec":{"size":1,"colour":"red"}}', request);
  expect(problems).toEqual(['unknown field "spec.colour"']);
  expect(object.spec).toEqual({ size: 1 });
  const bytes = Buffer.from('6b387300', 'hex');
  expect(
    failureOf(() => decode('', { ...request, bytes, mediaType: 'application/vnd.kubernetes.protobuf' })).code,
  ).toBe(415);
});

test('prune() turns a patch that breaks a type into 422 at field patch', () => {
  const error = failureOf(() => codec.prune(resource(), 'v1', { metadata: { name: 'd' }, spec: { replicas: 'x' } }));
  expect(error.code).toBe(422);
  expect(error.causes).toMatchObject([{ field: 'patch' }]);
});

test('patches fail with the code of the broken rule', () => {
  const object = { metadata: { name: 'd' }, spec: {} };
  expect(failureOf(() => codec.jsonPatch(object, [{ op: 'test', path: '/x', value: 1 }])).code).toBe(422);
  expect(failureOf(() => codec.strategicMerge(resource(), 'v1', object, { spec: { $retainKeys: 1 } })).code).toBe(400);
});

test('fields.apply() answers conflicts with 409 and one cause per field', () => {
  const { fields } = codec;
  if (fields === undefined) throw new Error('must manage fields');
  const request = { resource: resource(), version: 'v1', subresource: undefined, now: 0 };
  const config = (replicas: number) => ({ ...expected, metadata: { name: 'd', namespace: 'n' }, spec: { replicas } });
  const live = fields.apply({
    ...request,
    live: { ...expected, metadata: { name: 'd', namespace: 'n' } },
    config: config(1),
    manager: 'a',
    force: false,
  });
  const error = failureOf(() => fields.apply({ ...request, live, config: config(2), manager: 'b', force: false }));
  expect(error.code).toBe(409);
  expect(error.message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.replicas');
  expect(error.causes).toEqual([
    { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.spec.replicas' },
  ]);
});

test('fields.recordUpdate() leaves ownership on the object', () => {
  const object = { ...expected, metadata: { name: 'd' } as Record<string, unknown>, spec: { replicas: 1 } };
  codec.fields?.recordUpdate({
    resource: resource(),
    version: 'v1',
    subresource: undefined,
    old: undefined,
    object,
    manager: 'm',
    now: 0,
  });
  expect(object.metadata.managedFields).toMatchObject([
    { manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
  ]);
});

test('decode() gives a body that comes again and again as a fresh object each time', () => {
  const deployments = resource();
  const body = '{"metadata":{"generateName":"web-"},"spec":{"replicas":2,"typo":1}}';
  const seen = [1, 2, 3, 4].map((at) => {
    const { object, problems } = decode(body, { resource: deployments });
    object.metadata.name = `web-${at}`;
    return { object, problems };
  });
  for (const [at, { object, problems }] of seen.entries()) {
    expect(object).toEqual({
      ...expected,
      metadata: { generateName: 'web-', name: `web-${at + 1}` },
      spec: { replicas: 2 },
    });
    expect(problems).toEqual(['unknown field "spec.typo"']);
  }
  const other = { resource: deployments, expected: { ...expected, apiVersion: 'apps/v1beta1' } };
  expect(failureOf(() => decode(body, other)).message).toMatch('no kind "Deployment" is registered');
});
