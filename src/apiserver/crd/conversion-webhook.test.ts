import { createServer, type Server } from 'node:https';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { type Client, createClient, ManualClock, settle } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { webhookPlugins } from '../admission/webhooks/index.ts';
import { openPki, type Pki } from '../auth/pki.ts';
import { createCodec } from '../codec/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { builtinResources } from '../kinds/resources.ts';
import { inProcessTransport } from '../server/in-process.ts';
import { type ApiServer, createApiServer } from '../server/server.ts';
import { CustomResources } from './custom-resources.ts';

/** v1 says `spec.hostPort: "a:80"`, v2 says `spec.host: a` and `spec.port: "80"`. */
interface Request {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: ApiObject[];
}

let pki: Pki;
let https: Server;
let port: number;
let asked: Request[];
let answer: (request: Request) => object;

function converted(object: ApiObject, apiVersion: string): ApiObject {
  const { hostPort, host, port: number, ...rest } = (object['spec'] ?? {}) as Record<string, string>;
  const spec =
    apiVersion === 'example.com/v2'
      ? { ...rest, host: (hostPort ?? '').split(':')[0], port: (hostPort ?? '').split(':')[1] }
      : { ...rest, hostPort: `${host}:${number}` };
  return { ...object, apiVersion, spec };
}

const convertAll = ({ uid, desiredAPIVersion, objects }: Request): object => ({
  uid,
  result: { status: 'Success' },
  convertedObjects: objects.map((object) => converted(object, desiredAPIVersion)),
});

beforeAll(async () => {
  pki = await openPki({ clock: new ManualClock(Date.now()) });
  https = createServer({ cert: pki.server.certificate, key: pki.server.key }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { kind: string; request: Request };
      if (body.kind === 'AdmissionReview') {
        reviewed.push(body.request as unknown as { object: ApiObject });
        outgoing.end(JSON.stringify({ ...body, response: { uid: body.request.uid, allowed: true } }));
        return;
      }
      asked.push(body.request);
      const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' };
      outgoing.end(JSON.stringify({ ...review, response: answer(body.request) }));
    });
  });
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  port = (https.address() as { port: number }).port;
});
afterAll(async () => {
  https.closeAllConnections();
  await new Promise((resolve) => https.close(resolve));
});

let server: ApiServer;
let client: Client;
let custom: CustomResources;
let reviewed: { object: ApiObject }[];
let stopWebhooks: () => void;

const clientConfig = () => ({
  url: `https://127.0.0.1:${port}/convert`,
  caBundle: Buffer.from(pki.authority.certificate).toString('base64'),
});

const preserving = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: preserving,
  subresources: { status: {} },
});

const definition = (stored: 'v1' | 'v2') => ({
  metadata: { name: 'routes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'routes', kind: 'Route' },
    versions: [version('v1', stored === 'v1'), version('v2', stored === 'v2')],
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfig() } },
  },
});

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (name: string): string => `/apis/example.com/${name}/namespaces/default/routes`;
const route = (name: string, apiVersion: 'v1' | 'v2', spec: object) => ({
  apiVersion: `example.com/${apiVersion}`,
  kind: 'Route',
  metadata: { name },
  spec,
});

beforeEach(async () => {
  asked = [];
  reviewed = [];
  answer = convertAll;
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock: new ManualClock(),
    codec: createCodec(),
    admission(context) {
      const plugins = webhookPlugins(context, []);
      stopWebhooks = () => plugins.stop();
      return [plugins.mutating, plugins.validating];
    },
  });
  custom = new CustomResources(server.context);
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
  await client.request('POST', CRDS, definition('v1'));
  await settle();
});
afterEach(() => {
  stopWebhooks();
  custom.stop();
  server.close();
});

const routes = {
  group: 'example.com',
  version: 'v2',
  kind: 'Route',
  plural: 'routes',
  namespaced: true,
} as ResourceType<KubeObject & { spec: { host: string } }>;

const V2 = { host: 'a', port: '80' };
const V1 = { hostPort: 'a:80' };

test('23.2: an object written in one version is read in another without losing a field', async () => {
  const made = await client.request('POST', at('v2'), route('a', 'v2', { ...V2, other: 'kept' }));
  expect(made).toMatchObject({ apiVersion: 'example.com/v2', spec: { ...V2, other: 'kept' } });
  expect(await client.request('GET', `${at('v1')}/a`)).toMatchObject({
    apiVersion: 'example.com/v1',
    spec: { ...V1, other: 'kept' },
  });
  expect(await client.request('GET', `${at('v2')}/a`)).toMatchObject({ spec: { ...V2, other: 'kept' } });
});

test('23.2: the stored version asks nobody', async () => {
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  await client.request('GET', at('v1'));
  expect(asked).toEqual([]);
});

test('23.2: updates and patches of every kind work on the version they name', async () => {
  const made = (await client.request('POST', at('v1'), route('a', 'v1', V1))) as ApiObject;
  const { resourceVersion } = made.metadata;
  const put = { ...route('a', 'v2', { host: 'b', port: '80' }), metadata: { name: 'a', resourceVersion } };
  expect(await client.request('PUT', `${at('v2')}/a`, put)).toMatchObject({ spec: { host: 'b', port: '80' } });
  const patch = (type: string, body: unknown) =>
    client.request('PATCH', `${at('v2')}/a?fieldManager=t`, body, { 'content-type': type });
  await patch('application/merge-patch+json', { spec: { port: '81' } });
  await patch('application/json-patch+json', [{ op: 'replace', path: '/spec/host', value: 'c' }]);
  expect(await client.request('GET', `${at('v1')}/a`)).toMatchObject({ spec: { hostPort: 'c:81' } });
  const applied = await client.request(
    'PATCH',
    `${at('v2')}/new?fieldManager=t&force=true`,
    route('new', 'v2', { host: 'n', port: '1' }),
    { 'content-type': 'application/apply-patch+yaml' },
  );
  expect(applied).toMatchObject({ apiVersion: 'example.com/v2', spec: { host: 'n', port: '1' } });
  expect(await client.request('GET', `${at('v1')}/new`)).toMatchObject({ spec: { hostPort: 'n:1' } });
});

test('23.2: status written in another version keeps the spec', async () => {
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  await client.request(
    'PATCH',
    `${at('v2')}/a/status`,
    { status: { ready: true } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(await client.request('GET', `${at('v1')}/a`)).toMatchObject({ spec: V1, status: { ready: true } });
});

test('23.2: a list is converted in one call, and a table of it as well', async () => {
  for (const name of ['a', 'b', 'c']) await client.request('POST', at('v1'), route(name, 'v1', V1));
  const { items } = (await client.request('GET', at('v2'))) as { items: ApiObject[] };
  expect(items.map(({ spec, apiVersion }) => ({ spec, apiVersion }))).toEqual(
    ['a', 'b', 'c'].map(() => ({ spec: V2, apiVersion: 'example.com/v2' })),
  );
  expect(asked.map(({ objects }) => objects.length)).toEqual([3]);
});

test('23.2: a watch shows every change in its version, in order', async () => {
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  const seen: string[] = [];
  const following = (async () => {
    for await (const { type, object } of client.watch(routes, { namespace: 'default' })) {
      seen.push(`${type} ${object.metadata.name} ${object.spec.host}`);
      if (seen.length === 4) return;
    }
  })();
  await expect.poll(() => seen.length).toBe(1);
  await client.request('POST', at('v1'), route('b', 'v1', { hostPort: 'b:1' }));
  await client.request(
    'PATCH',
    `${at('v1')}/b`,
    { spec: { hostPort: 'c:1' } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await client.request('DELETE', `${at('v1')}/a`);
  await following;
  expect(seen).toEqual(['ADDED a a', 'ADDED b b', 'MODIFIED b c', 'DELETED a a']);
});

test('23.2: what was stored before the storage version changed is read, and written anew by any write', async () => {
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  const { resourceVersion } = ((await client.request('GET', `${CRDS}/routes.example.com`)) as ApiObject).metadata;
  const changed = definition('v2');
  await client.request('PUT', `${CRDS}/routes.example.com`, {
    ...changed,
    metadata: { ...changed.metadata, resourceVersion },
  });
  await settle();
  const before = (await client.request('GET', `${at('v2')}/a`)) as ApiObject;
  expect(before).toMatchObject({ spec: V2 });
  const after = (await client.request('PUT', `${at('v2')}/a`, before)) as ApiObject;
  expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
  asked = [];
  expect(await client.request('GET', `${at('v2')}/a`)).toMatchObject({ spec: V2 });
  expect(asked).toEqual([]);
});

test('23.2: an admission webhook sees the version that it asked for', async () => {
  await client.request('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'check' },
    webhooks: [
      {
        name: 'check.example.com',
        clientConfig: { ...clientConfig(), url: `https://127.0.0.1:${port}/check` },
        rules: [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v2'], resources: ['routes'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  expect(reviewed.map(({ object }) => object['spec'])).toEqual([V2]);
});

const failures: [name: string, answer: (request: Request) => object, message: RegExp][] = [
  [
    'says that it failed',
    ({ uid }) => ({ uid, result: { status: 'Failure', message: 'no such shape' } }),
    /^conversion webhook for example\.com\/v1, Kind=Route failed: no such shape$/,
  ],
  ['answers another question', () => ({ uid: 'x', result: { status: 'Success' } }), /expected response\.uid=/],
  [
    'leaves objects out',
    ({ uid }) => ({ uid, result: { status: 'Success' }, convertedObjects: [] }),
    /webhook returned 0 objects, expected 1/,
  ],
  [
    'gives another version',
    (request) => ({ ...convertAll(request), convertedObjects: request.objects }),
    /invalid groupVersion \(expected example\.com\/v2, received "example\.com\/v1"\)/,
  ],
  [
    'changes who the object is',
    (request) => ({
      ...convertAll(request),
      convertedObjects: request.objects.map((object) => ({
        ...converted(object, request.desiredAPIVersion),
        metadata: { ...object.metadata, name: 'other' },
      })),
    }),
    /must have the same name/,
  ],
];
for (const [name, broken, message] of failures) {
  test(`23.2: a webhook that ${name} makes the request fail with the reason, and nothing is lost`, async () => {
    await client.request('POST', at('v1'), route('a', 'v1', V1));
    answer = broken;
    await expect(client.request('GET', `${at('v2')}/a`)).rejects.toMatchObject({
      code: 500,
      message: expect.stringMatching(message) as string,
    });
    expect(await client.request('GET', `${at('v1')}/a`)).toMatchObject({ spec: V1 });
  });
}

test('23.2: of metadata a webhook may change labels and annotations only', async () => {
  await client.request('POST', at('v1'), route('a', 'v1', V1));
  answer = (request) => ({
    ...convertAll(request),
    convertedObjects: request.objects.map((object) => ({
      ...converted(object, request.desiredAPIVersion),
      metadata: { ...object.metadata, labels: { by: 'webhook' }, finalizers: ['x/y'], resourceVersion: '1' },
    })),
  });
  const { metadata } = (await client.request('GET', `${at('v2')}/a`)) as ApiObject;
  expect(metadata.labels).toEqual({ by: 'webhook' });
  expect(metadata.finalizers).toBeUndefined();
  expect(metadata.resourceVersion).not.toBe('1');
});
