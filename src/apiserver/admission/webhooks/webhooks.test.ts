import { createServer, type Server } from 'node:https';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AdmissionRequest, AdmissionResponse } from '../../../api/generated/admission-v1.ts';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { openPki, type Pki } from '../../auth/pki.ts';
import { inProcessTransport } from '../../server/in-process.ts';
import { builtinResources } from '../../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../../server/server.ts';
import { webhookPlugins } from './index.ts';

type Review = { request: AdmissionRequest & { object: Record<string, unknown> | null } };
type Answer = (Omit<Partial<AdmissionResponse>, 'status'> & { status?: object }) | 'hang' | 'garbage';

let pki: Pki;
let https: Server;
let port: number;
let seen: { path: string; request: Review['request'] }[];
let answers: Record<string, (request: Review['request']) => Answer>;

beforeAll(async () => {
  pki = await openPki({ clock: new ManualClock(Date.now()), hosts: ['hook.team.svc'] });
  https = createServer({ cert: pki.server.certificate, key: pki.server.key }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { request } = JSON.parse(Buffer.concat(chunks).toString()) as Review;
      const path = incoming.url ?? '';
      seen.push({ path, request });
      const answer = answers[path.split('?', 1)[0] ?? '']?.(request) ?? { allowed: true };
      if (answer === 'hang') return;
      if (answer === 'garbage') {
        outgoing.end('{"kind":"Other"}');
        return;
      }
      const response = { uid: request.uid, ...answer };
      outgoing.end(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response }));
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
let clock: ManualClock;
let stop: () => void;

beforeEach(async () => {
  seen = [];
  answers = {};
  clock = new ManualClock();
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock,
    admission(context) {
      const plugins = webhookPlugins(context, []);
      stop = () => plugins.stop();
      return [plugins.mutating, plugins.validating];
    },
  });
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'team', labels: { guarded: 'yes' } } });
  await client.request('POST', '/api/v1/namespaces', { metadata: { name: 'free' } });
});
afterEach(() => {
  stop();
  server.close();
});

const RULES = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

interface Hook {
  path?: string;
  [field: string]: unknown;
}

async function configure(kind: 'Mutating' | 'Validating', hooks: Hook[], name = 'config'): Promise<void> {
  await client.request('POST', `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`, {
    metadata: { name },
    webhooks: hooks.map(({ path = '/check', ...over }, at) => ({
      name: `hook-${at}.example.com`,
      clientConfig: {
        url: `https://127.0.0.1:${port}${path}`,
        caBundle: Buffer.from(pki.authority.certificate).toString('base64'),
      },
      rules: RULES,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...over,
    })),
  });
}

const create = (name = 'a', more: object = {}, namespace = 'team', query = '') =>
  client.request<Record<string, unknown>>('POST', `/api/v1/namespaces/${namespace}/configmaps${query}`, {
    metadata: { name, ...more },
    data: { k: 'v' },
  });

const patch = (...operations: object[]): Answer => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

test('a validating webhook gets the whole request', async () => {
  await configure('Validating', [{ timeoutSeconds: 7 }]);
  await create('a', {}, 'team', '?fieldManager=me');
  expect(seen).toHaveLength(1);
  expect(seen[0]?.path).toBe('/check?timeout=7s');
  expect(seen[0]?.request).toMatchObject({
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    name: 'a',
    namespace: 'team',
    operation: 'CREATE',
    userInfo: { username: 'system:admin' },
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', uid: expect.any(String) }, data: { k: 'v' } },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', fieldManager: 'me' },
  });
  await client.request('DELETE', '/api/v1/namespaces/team/configmaps/a');
  expect(seen[1]?.request).toMatchObject({ operation: 'DELETE', object: null, oldObject: { data: { k: 'v' } } });
});

test('a denial carries the message, code and details of the webhook', async () => {
  await configure('Validating', [{}]);
  answers['/check'] = () => ({ allowed: false, status: { message: 'not today' } });
  await expect(create()).rejects.toMatchObject({
    code: 400,
    message: 'admission webhook "hook-0.example.com" denied the request: not today',
  });
  answers['/check'] = () => ({ allowed: false });
  await expect(create()).rejects.toMatchObject({
    message: 'admission webhook "hook-0.example.com" denied the request without explanation',
  });
  const causes = [{ reason: 'DisruptionBudget', message: 'needs 3' }];
  answers['/check'] = () => ({
    allowed: false,
    status: { code: 429, reason: 'TooManyRequests', message: 'wait', details: { retryAfterSeconds: 10, causes } },
  });
  await expect(create()).rejects.toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    status: { details: { retryAfterSeconds: 10, causes } },
  });
});

test('a failed call refuses, or is passed over when the policy is Ignore', async () => {
  await configure('Validating', [{ path: '/bad' }]);
  answers['/bad'] = () => 'garbage';
  await expect(create()).rejects.toMatchObject({
    code: 500,
    reason: 'InternalError',
    message: expect.stringContaining('failed calling webhook "hook-0.example.com": received invalid webhook response'),
  });
  await client.request(
    'PATCH',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/config',
    [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }],
    { 'content-type': 'application/json-patch+json' },
  );
  await create();
});

test('a webhook that does not answer in time fails the call', async () => {
  await configure('Validating', [{ path: '/slow', timeoutSeconds: 1 }]);
  let arrived: () => void = () => {};
  const called = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  answers['/slow'] = () => {
    arrived();
    return 'hang';
  };
  const refused = expect(create()).rejects.toMatchObject({
    code: 500,
    message: expect.stringContaining(`/slow?timeout=1s": context deadline exceeded`),
  });
  await called;
  await clock.advance(1000);
  await refused;
});

test('a certificate of another authority fails the call', async () => {
  const other = await openPki({ clock: new ManualClock(Date.now()) });
  const caBundle = Buffer.from(other.authority.certificate).toString('base64');
  await configure('Validating', [{ clientConfig: { url: `https://127.0.0.1:${port}/check`, caBundle } }]);
  await expect(create()).rejects.toMatchObject({ code: 500 });
  expect(seen).toEqual([]);
});

test('a service without route fails with the way out', async () => {
  await configure('Validating', [{ clientConfig: { service: { namespace: 'team', name: 'hook', path: '/x' } } }]);
  await expect(create()).rejects.toMatchObject({
    message: expect.stringContaining('Post "https://hook.team.svc/x": service "hook" not found'),
  });
});

test('a service without selector is reached at the address of its EndpointSlice, under its own name', async () => {
  await client.request('POST', '/api/v1/namespaces/team/services', {
    metadata: { name: 'hook' },
    spec: { ports: [{ name: 'https', port: 443 }] },
  });
  await client.request('POST', '/apis/discovery.k8s.io/v1/namespaces/team/endpointslices', {
    metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ name: 'https', port }],
  });
  const caBundle = Buffer.from(pki.authority.certificate).toString('base64');
  const service = { namespace: 'team', name: 'hook', path: '/check' };
  await configure('Validating', [{ clientConfig: { service, caBundle } }]);
  await create();
  expect(seen.map(({ path }) => path)).toEqual(['/check?timeout=10s']);
});

test('mutating webhooks run in order and each sees the work of the one before', async () => {
  await configure('Mutating', [{ path: '/one' }, { path: '/two' }]);
  answers['/one'] = () => patch({ op: 'add', path: '/data/one', value: '1' });
  answers['/two'] = (request) =>
    patch({ op: 'add', path: '/data/two', value: String(Object.keys(request.object?.['data'] as object)) });
  const made = await create();
  expect(made['data']).toEqual({ k: 'v', one: '1', two: 'k,one' });
  expect(seen[0]?.request.object).not.toHaveProperty('metadata.uid');
  expect(made).toHaveProperty('metadata.uid');
});

test('a webhook that asks for it is called again after a later change', async () => {
  await configure('Mutating', [{ path: '/one', reinvocationPolicy: 'IfNeeded' }, { path: '/two' }]);
  answers['/two'] = () => patch({ op: 'add', path: '/data/two', value: '2' });
  await create();
  expect(seen.map(({ path }) => path.split('?', 1)[0])).toEqual(['/one', '/two', '/one']);
});

test('selectors, rules and match conditions decide who is asked', async () => {
  await configure('Validating', [
    { path: '/namespace', namespaceSelector: { matchLabels: { guarded: 'yes' } } },
    { path: '/label', objectSelector: { matchLabels: { watched: 'yes' } } },
    { path: '/other', rules: [{ ...RULES[0], resources: ['secrets'] }] },
    {
      path: '/condition',
      matchConditions: [{ name: 'not-skipped', expression: "object.metadata.name != 'skip-me'" }],
    },
  ]);
  const asked = async (run: Promise<unknown>): Promise<string[]> => {
    seen = [];
    await run;
    return seen.map(({ path }) => path.split('?', 1)[0] ?? '').sort();
  };
  expect(await asked(create('a'))).toEqual(['/condition', '/namespace']);
  expect(await asked(create('b', { labels: { watched: 'yes' } }, 'free'))).toEqual(['/condition', '/label']);
  expect(await asked(create('skip-me', {}, 'free'))).toEqual([]);
});

test('configurations of admission are never sent to webhooks', async () => {
  await configure('Validating', [
    { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] },
  ]);
  answers['/check'] = () => ({ allowed: false });
  await configure('Validating', [{}], 'second');
  await client.request('DELETE', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/config');
  expect(seen).toEqual([]);
});

test('warnings reach the client; a dry run says so', async () => {
  await configure('Validating', [{}]);
  answers['/check'] = () => ({ allowed: true, warnings: ['mind the gap'] });
  const response = await server.handle({
    method: 'POST',
    url: '/api/v1/namespaces/team/configmaps?dryRun=All',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ metadata: { name: 'a' } })),
    signal: new AbortController().signal,
    peer: { user: { username: 'x', groups: [] } },
  });
  expect(response.status).toBe(201);
  expect([response.headers['warning']].flat()).toEqual(['299 - "mind the gap"']);
  expect(seen[0]?.request.dryRun).toBe(true);
});

const refused: { name: string; hook: Hook; field: string; message?: string }[] = [
  { name: 'side effects', hook: { sideEffects: 'Some' }, field: 'webhooks[0].sideEffects' },
  { name: 'a short name', hook: { name: 'hook' }, field: 'webhooks[0].name' },
  { name: 'a long timeout', hook: { timeoutSeconds: 31 }, field: 'webhooks[0].timeoutSeconds' },
  { name: 'plain HTTP', hook: { clientConfig: { url: 'http://x/y' } }, field: 'webhooks[0].clientConfig.url' },
  {
    name: 'an expression that does not compile',
    hook: { matchConditions: [{ name: 'bad', expression: '... [] bad expression' }] },
    field: 'webhooks[0].matchConditions[0].expression',
    message: 'compilation failed',
  },
];
for (const { name, hook, field, message = '' } of refused) {
  test(`a configuration with ${name} is refused`, async () => {
    await expect(configure('Validating', [hook])).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(message),
      status: { details: { causes: [{ field }] } },
    });
  });
}
