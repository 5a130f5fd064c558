import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, ManualClock } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { createCodec } from '../codec/index.ts';
import type { Peer } from '../exchange/exchange.ts';
import { inProcessTransport } from '../server/in-process.ts';
import { builtinResources } from '../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../server/server.ts';
import { type Auth, createAuth } from './auth.ts';
import { openPki, type Pki } from './pki.ts';
import { bootstrapRoles } from './rbac/bootstrap.ts';

let server: ApiServer;
let auth: Auth | undefined;
let admin: Client;
let pki: Pki;

beforeAll(async () => {
  const clock = new ManualClock(Date.now());
  pki = await openPki({ clock });
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock,
    codec: createCodec(),
    access(reads) {
      auth = createAuth({ reads, pki, clock, newUid: () => randomUUID() });
      return auth;
    },
  });
  admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await bootstrapRoles(admin);
  await admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  await admin.request('POST', '/api/v1/namespaces/team/serviceaccounts', { metadata: { name: 'bot' } });
  await bind('admin', 'team', 'boss');
  await bind('view', 'team', 'viewer');
});
afterAll(() => server.close());

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

async function bind(role: string, namespace: string, username: string): Promise<void> {
  await admin.request('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: `${role}-${username}` },
    subjects: [{ kind: 'User', name: username }],
    roleRef: { kind: 'ClusterRole', name: role },
  });
}

const as = (username: string): Client =>
  createClient({
    transport: inProcessTransport(server.handle, { username, groups: ['system:authenticated'] }),
    userAgent: username,
  });

async function raw(path: string, headers: Record<string, string> = {}, peer: Peer = {}): Promise<number> {
  const response = await server.handle({
    method: 'GET',
    url: path,
    headers,
    body: undefined,
    signal: new AbortController().signal,
    peer,
  });
  return response.status;
}

test('without credentials only health and version can be seen; bad ones are 401', async () => {
  const paths = [
    '/healthz',
    '/livez',
    '/readyz',
    '/version',
    '/api',
    '/apis',
    '/apis/apps/v1',
    '/api/v1/pods',
    '/openid/v1/jwks',
  ];
  const seen = [];
  for (const path of paths) seen.push(`${path} ${await raw(path)}`);
  expect(seen).toEqual([
    '/healthz 200',
    '/livez 200',
    '/readyz 200',
    '/version 200',
    '/api 403',
    '/apis 403',
    '/apis/apps/v1 403',
    '/api/v1/pods 403',
    '/openid/v1/jwks 403',
  ]);
  expect(await raw('/healthz', { authorization: 'Bearer wrong' })).toBe(401);
  expect(await raw('/healthz', {}, { certificateRefused: true })).toBe(401);
  expect(await raw('/api', { authorization: `Bearer ${pki.adminToken}` })).toBe(200);
});

test('access reviews agree with what happens', async () => {
  const cases: [string, string, string][] = [
    ['viewer', 'list', 'pods'],
    ['viewer', 'list', 'secrets'],
    ['boss', 'list', 'secrets'],
    ['boss', 'list', 'rolebindings'],
    ['nobody', 'list', 'pods'],
  ];
  for (const [username, verb, resource] of cases) {
    const group = resource === 'rolebindings' ? 'rbac.authorization.k8s.io' : '';
    const path = group === '' ? '/api/v1' : RBAC;
    const attributes = { namespace: 'team', verb, group, resource };
    const review = await admin.request<{ status: { allowed: boolean } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user: username, groups: ['system:authenticated'], resourceAttributes: attributes } },
    );
    const own = await as(username).request<{ status: { allowed: boolean } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { resourceAttributes: attributes } },
    );
    const happened = await as(username)
      .request('GET', `${path}/namespaces/team/${resource}`)
      .then(
        () => true,
        () => false,
      );
    expect([username, resource, review.status.allowed, own.status.allowed]).toEqual([
      username,
      resource,
      happened,
      happened,
    ]);
  }
});

test('a review without a question, or about two things, is refused', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  await expect(admin.request('POST', path, { spec: {} })).rejects.toMatchObject({ code: 422 });
  const both = { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/', verb: 'get' } };
  await expect(admin.request('POST', path, { spec: both })).rejects.toMatchObject({ code: 422 });
  const local = '/apis/authorization.k8s.io/v1/namespaces/team/localsubjectaccessreviews';
  const elsewhere = { user: 'x', resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' } };
  await expect(admin.request('POST', local, { spec: elsewhere })).rejects.toMatchObject({ code: 422 });
});

test('rules reviews list what holds in a namespace', async () => {
  const review = await as('viewer').request<{ status: { resourceRules: { resources: string[]; verbs: string[] }[] } }>(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { spec: { namespace: 'team' } },
  );
  expect(review.status.resourceRules.some(({ resources }) => resources.includes('pods'))).toBe(true);
  expect(review.status.resourceRules.some(({ resources }) => resources.includes('secrets'))).toBe(false);
});

test('nobody grants more than they hold', async () => {
  const role = (name: string, resources: string[], verbs = ['get']) => ({
    metadata: { name },
    rules: [{ verbs, apiGroups: [''], resources }],
  });
  const roles = `${RBAC}/namespaces/team/roles`;
  await as('boss').request('POST', roles, role('fine', ['pods', 'secrets']));
  await expect(as('boss').request('POST', roles, role('more', ['nodes'], ['get', 'delete']))).rejects.toMatchObject({
    code: 403,
    message:
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "boss" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "delete"]}',
  });
  const bindings = `${RBAC}/namespaces/team/rolebindings`;
  const binding = (name: string, to: string) => ({
    metadata: { name },
    subjects: [{ kind: 'User', name: 'friend' }],
    roleRef: { kind: 'ClusterRole', name: to },
  });
  await as('boss').request('POST', bindings, binding('ok', 'edit'));
  await expect(as('boss').request('POST', bindings, binding('no', 'cluster-admin'))).rejects.toMatchObject({
    code: 403,
  });
  await admin.request('POST', `${RBAC}/clusterroles`, {
    metadata: { name: 'binder' },
    rules: [{ verbs: ['bind'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] }],
  });
  await bind('binder', 'team', 'boss');
  await as('boss').request('POST', bindings, binding('now', 'cluster-admin'));
});

test('the role a binding refers to cannot be changed', async () => {
  const path = `${RBAC}/namespaces/team/rolebindings/view-viewer`;
  const binding = await admin.request<Record<string, unknown>>('GET', path);
  const changed = { ...binding, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' } };
  await expect(admin.request('PUT', path, changed)).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('cannot change roleRef'),
  });
});

test('impersonation takes the right to impersonate and gives no more than the other has', async () => {
  const viewer = { 'impersonate-user': 'viewer' };
  await admin.request('GET', '/api/v1/namespaces/team/pods', undefined, viewer);
  await expect(admin.request('GET', '/api/v1/namespaces/team/secrets', undefined, viewer)).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('User "viewer" cannot list resource "secrets"'),
  });
  await expect(
    as('viewer').request('GET', '/api/v1/pods', undefined, { 'impersonate-user': 'boss' }),
  ).rejects.toMatchObject({
    code: 403,
    message:
      'users "boss" is forbidden: User "viewer" cannot impersonate resource "users" in API group "" at the cluster scope',
  });
});

const token = (spec: object = {}) =>
  admin.request<{ status: { token: string; expirationTimestamp: string } }>(
    'POST',
    '/api/v1/namespaces/team/serviceaccounts/bot/token',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  );

test('a requested token works, and a review says whose it is', async () => {
  const { status } = await token();
  expect(await raw('/api', { authorization: `Bearer ${status.token}` })).toBe(200);
  const review = await admin.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: status.token },
  });
  expect(review).toMatchObject({
    status: {
      authenticated: true,
      user: {
        username: 'system:serviceaccount:team:bot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
      },
    },
  });
  const bad = await admin.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } });
  expect(bad).toMatchObject({ status: { error: '[invalid bearer token]' } });
});

test('17.12: the keys of tokens are read, in their own form', async () => {
  const keys = (method: string, accept: string) =>
    admin.request(method, '/openid/v1/jwks', undefined, { accept }).then(
      () => 200,
      ({ code }) => code as number,
    );
  expect(await keys('GET', 'application/jwk-set+json')).toBe(200);
  expect(await keys('GET', '*/*')).toBe(200);
  expect(await keys('GET', 'application/json')).toBe(406);
  expect(await keys('DELETE', '*/*')).toBe(405);
});

test('17.12: no token is given for something that is no request for one', async () => {
  const body = { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', spec: { audiences: ['vault'] } };
  await expect(admin.request('POST', '/api/v1/namespaces/team/serviceaccounts/bot/token', body)).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining('cannot be handled as a TokenRequest'),
  });
});

test('a token for another audience opens nothing here', async () => {
  const { status } = await token({ audiences: ['vault'] });
  expect(await raw('/api', { authorization: `Bearer ${status.token}` })).toBe(401);
});

test('token requests are checked', async () => {
  await expect(token({ expirationSeconds: 5 })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('may not specify a duration less than 10 minutes'),
  });
  const bound = { kind: 'Pod', apiVersion: 'v1', name: 'missing' };
  await expect(token({ boundObjectRef: bound })).rejects.toMatchObject({ code: 404 });
});

test('a self review names the caller', async () => {
  expect(await as('viewer').request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})).toMatchObject({
    status: { userInfo: { username: 'viewer', groups: ['system:authenticated'] } },
  });
});

test.each([
  ['PUT', 'update', 'application/json'],
  ['PATCH', 'patch', 'application/apply-patch+yaml'],
])('17.8: %s to a new name needs the right to create besides the right to %s', async (method, verb, type) => {
  const grant = (name: string, verbs: string[]) =>
    admin.request('POST', `${RBAC}/namespaces/team/roles`, {
      metadata: { name },
      rules: [{ verbs, apiGroups: ['coordination.k8s.io'], resources: ['leases'] }],
    });
  const bindTo = (name: string) =>
    admin.request('POST', `${RBAC}/namespaces/team/rolebindings`, {
      metadata: { name },
      subjects: [{ kind: 'User', name }],
      roleRef: { kind: 'Role', name },
    });
  const [one, both] = [`${verb}-only`, `${verb}-and-create`];
  await grant(one, [verb]);
  await grant(both, [verb, 'create']);
  await bindTo(one);
  await bindTo(both);
  const write = async (username: string) => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: `of-${verb}` } };
    const response = await server.handle({
      method,
      url: `/apis/coordination.k8s.io/v1/namespaces/team/leases/of-${verb}?fieldManager=test`,
      headers: { 'content-type': type },
      body: Buffer.from(JSON.stringify(lease)),
      signal: new AbortController().signal,
      peer: { user: { username, groups: ['system:authenticated'] } },
    });
    return { status: response.status, text: Buffer.from(response.body as Uint8Array).toString('utf8') };
  };
  const refused = await write(one);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain(`cannot create resource \\"leases\\"`);
  expect((await write(both)).status).toBe(201);
  // What is there already is an update like any other.
  expect((await write(one)).status).not.toBe(403);
});
