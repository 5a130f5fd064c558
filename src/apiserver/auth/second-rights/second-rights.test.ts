/** Writes that take a right besides the one to write. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { inProcessTransport } from '../../server/in-process.ts';
import { builtinResources } from '../../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../../server/server.ts';
import { createAuth } from '../auth.ts';
import { openPki } from '../pki.ts';

let server: ApiServer;
let admin: Client;
let made = 0;

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const POLICIES = '/apis/admissionregistration.k8s.io/v1';
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/team/resourceclaims';

beforeAll(async () => {
  const clock = new ManualClock(Date.now());
  const pki = await openPki({ clock });
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock,
    access: (reads) => createAuth({ reads, pki, clock, newUid: () => randomUUID() }),
  });
  admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
});
afterAll(() => server.close());

type Right = readonly [verbs: string, group: string, resources: string, names?: string];

/** Somebody new with these rights in the whole cluster. */
async function somebody(...rights: Right[]): Promise<Client> {
  const name = `user-${(made += 1)}`;
  await admin.request('POST', `${RBAC}/clusterroles`, {
    metadata: { name },
    rules: rights.map(([verbs, group, resources, names]) => ({
      verbs: verbs.split(' '),
      apiGroups: [group],
      resources: resources.split(' '),
      ...(names && { resourceNames: [names] }),
    })),
  });
  await admin.request('POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name },
    subjects: [{ kind: 'User', name }],
    roleRef: { kind: 'ClusterRole', name },
  });
  const user = { username: name, groups: ['system:authenticated'] };
  return createClient({ transport: inProcessTransport(server.handle, user), userAgent: name });
}

const policy = (name: string) => ({
  metadata: { name },
  spec: {
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    },
    validations: [{ expression: 'true' }],
  },
});
const binding = (name: string, paramRef: object) => ({
  metadata: { name },
  spec: { policyName: 'with-secrets', validationActions: ['Warn'], paramRef },
});

test('17.8: a policy with parameters is written by who may read all objects of their kind', async () => {
  const write: Right = ['create', 'admissionregistration.k8s.io', 'validatingadmissionpolicies'];
  const path = `${POLICIES}/validatingadmissionpolicies`;
  const message = expect.stringContaining('must have "get" permission');
  const author = await somebody(write);
  await expect(author.request('POST', path, policy('a'))).rejects.toMatchObject({ code: 422, message });
  const ofOne = await somebody(write, ['get', '', 'secrets', 'one']);
  await expect(ofOne.request('POST', path, policy('a'))).rejects.toMatchObject({ code: 422 });
  const reader = await somebody(write, ['get', '', 'secrets']);
  await reader.request('POST', path, policy('with-secrets'));
});

test('17.8: a binding is written by who may read the parameters that it names', async () => {
  const write: Right = ['create', 'admissionregistration.k8s.io', 'validatingadmissionpolicybindings'];
  const path = `${POLICIES}/validatingadmissionpolicybindings`;
  const one = { name: 'one', namespace: 'team', parameterNotFoundAction: 'Allow' };
  const all = { selector: {}, parameterNotFoundAction: 'Allow' };
  const author = await somebody(write);
  await expect(author.request('POST', path, binding('a', one))).rejects.toMatchObject({ code: 422 });
  const reader = await somebody(write, ['get', '', 'secrets', 'one']);
  await reader.request('POST', path, binding('a', one));
  await expect(reader.request('POST', path, binding('b', all))).rejects.toMatchObject({ code: 422 });
});

test('17.8: the status of a resource claim is written by the scheduler and by drivers, each their part', async () => {
  const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } };
  await admin.request('POST', CLAIMS, { metadata: { name: 'a' }, spec });
  const claim = await admin.request<object>('GET', `${CLAIMS}/a`);
  const write: Right = ['get update', 'resource.k8s.io', 'resourceclaims/status'];
  const allocation = { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'x' }] } };
  const devices = [{ driver: 'd', pool: 'p', device: 'x' }];
  const put = (who: Client, status: object) => who.request<object>('PUT', `${CLAIMS}/a/status`, { ...claim, status });
  const writer = await somebody(write);
  await expect(put(writer, { allocation })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('resourceclaims/binding'),
  });
  const scheduler = await somebody(write, ['update', 'resource.k8s.io', 'resourceclaims/binding']);
  const bound = await put(scheduler, { allocation });
  await expect(
    scheduler.request('PUT', `${CLAIMS}/a/status`, { ...bound, status: { allocation, devices } }),
  ).rejects.toMatchObject({ code: 422, message: expect.stringContaining('resourceclaims/driver') });
  const driver = await somebody(write, ['arbitrary-node:update', 'resource.k8s.io', 'resourceclaims/driver', 'd']);
  await driver.request('PUT', `${CLAIMS}/a/status`, { ...bound, status: { allocation, devices } });
});

test.each(['exec', 'attach', 'portforward'])('17.8: pods/%s by GET takes the right to create', async (subresource) => {
  const path = `/api/v1/namespaces/team/pods/a/${subresource}`;
  const reader = await somebody(['get', '', `pods/${subresource}`]);
  await expect(reader.request('GET', path)).rejects.toMatchObject({ code: 403 });
  const both = await somebody(['get create', '', `pods/${subresource}`]);
  await expect(both.request('GET', path)).rejects.toMatchObject({ code: 404 });
});
