/** Every kind and every subresource of the registry, tried through the scope it does not have. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, ManualClock } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { createAuth, openPki } from '../auth/index.ts';
import { CustomResources } from '../crd/index.ts';
import { inProcessTransport } from './in-process.ts';
import { builtinResources } from '../kinds/resources.ts';
import { apiVersion, type Resource } from '../registry/resource.ts';
import { type ApiServer, createApiServer } from './server.ts';
import type { UserInfo } from '../exchange/user.ts';

let server: ApiServer;
let custom: CustomResources;

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const asUser = (username: string): UserInfo => ({ username, groups: ['system:authenticated'] });
const superuser: UserInfo = { username: 'root', groups: ['system:masters', 'system:authenticated'] };
/** May do everything in the namespace `team`, and nothing elsewhere. */
const boss = asUser('boss');

beforeAll(async () => {
  const clock = new ManualClock(Date.now());
  const pki = await openPki({ clock });
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock,
    access: (reads) => createAuth({ reads, pki, clock, newUid: () => randomUUID() }),
  });
  custom = new CustomResources(server.context);
  const admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  await admin.request('POST', `${RBAC}/clusterroles`, {
    metadata: { name: 'all' },
    rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  });
  await admin.request('POST', `${RBAC}/namespaces/team/rolebindings`, {
    metadata: { name: 'boss' },
    subjects: [{ kind: 'User', name: 'boss' }],
    roleRef: { kind: 'ClusterRole', name: 'all' },
  });
  for (const scope of ['Namespaced', 'Cluster']) {
    const plural = `${scope.toLowerCase()}things`;
    await admin.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope,
        names: { plural, kind: `${scope}Thing` },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {}, scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
  }
});
afterAll(() => {
  custom.stop();
  server.close();
});

async function ask(user: UserInfo, method: string, url: string): Promise<number> {
  const { status } = await server.handle({
    method,
    url,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    body: method === 'GET' ? undefined : Buffer.from('{}'),
    signal: new AbortController().signal,
    peer: { user },
  });
  return status;
}

const resources = (namespaced: boolean): Resource[] =>
  [...server.context.registry.resources()].filter((resource) => resource.namespaced === namespaced);

/** The collection, an object, every subresource of it and something after it; the last two also for a watch. */
function* pathsOf(resource: Resource, namespace: string): Generator<string> {
  for (const { name } of resource.versions) {
    const root = `/${resource.group === '' ? 'api' : 'apis'}/${apiVersion(resource.group, name)}`;
    for (const prefix of [`${root}/${namespace}`, `${root}/watch/${namespace}`]) {
      yield `${prefix}${resource.plural}`;
      yield `${prefix}${resource.plural}/x`;
      for (const subresource of [...resource.subresources.keys(), 'none']) {
        yield `${prefix}${resource.plural}/x/${subresource}`;
        yield `${prefix}${resource.plural}/x/${subresource}/more`;
      }
    }
  }
}

test('17.6: no kind of the cluster, and no subresource of one, is reached through a namespace', async () => {
  const found: string[] = [];
  let asked = 0;
  for (const resource of resources(false)) {
    for (const path of pathsOf(resource, 'namespaces/team/')) {
      for (const method of METHODS) {
        for (const user of [boss, superuser]) {
          const status = await ask(user, method, path);
          asked += 1;
          if (status !== 404) found.push(`${user.username} ${method} ${path}: ${status}`);
        }
      }
    }
  }
  expect(found).toEqual([]);
  expect(asked).toBeGreaterThan(1000);
});

test('17.6: an object of a namespaced kind, and its subresources, are not reached without a namespace', async () => {
  const found: string[] = [];
  for (const resource of resources(true)) {
    const readAcross = resource.verbs.includes('list') || resource.verbs.includes('watch');
    for (const path of pathsOf(resource, '')) {
      const isCollection = path.endsWith(`/${resource.plural}`);
      for (const method of METHODS) {
        if (isCollection && readAcross && method === 'GET') continue;
        const status = await ask(superuser, method, path);
        const wanted = isCollection && readAcross && !resource.custom ? 405 : 404;
        if (status !== wanted) found.push(`${method} ${path}: ${status}, not ${wanted}`);
      }
    }
  }
  expect(found).toEqual([]);
});

test('17.6: who has no right in the namespace is told so before any route is looked for', async () => {
  expect(await ask(asUser('nobody'), 'PUT', '/api/v1/namespaces/team/nodes/node-0/status')).toBe(403);
  expect(await ask(asUser('nobody'), 'GET', '/apis/nothing.example.com/v1/namespaces/team/things')).toBe(403);
});

test('17.6: a namespace is written with rights inside itself, and no other is', async () => {
  expect(await ask(boss, 'GET', '/api/v1/namespaces/team')).toBe(200);
  expect(await ask(boss, 'GET', '/api/v1/namespaces/team/status')).toBe(200);
  expect(await ask(boss, 'PUT', '/api/v1/namespaces/default/finalize')).toBe(403);
  expect(await ask(boss, 'PUT', '/api/v1/namespaces/team/status/default/finalize')).toBe(404);
  expect(await ask(boss, 'GET', '/apis/custom.metrics.k8s.io/v1beta1/namespaces/team/nodes/n/load')).toBe(404);
});

test('a list of one object by its name is allowed to who may list that object', async () => {
  const admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await admin.request('POST', `${RBAC}/namespaces/team/roles`, {
    metadata: { name: 'one' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'] }],
  });
  await admin.request('POST', `${RBAC}/namespaces/team/rolebindings`, {
    metadata: { name: 'one' },
    subjects: [{ kind: 'User', name: 'reader' }],
    roleRef: { kind: 'Role', name: 'one' },
  });
  const list = (selector: string) =>
    ask(asUser('reader'), 'GET', `/api/v1/namespaces/team/secrets?fieldSelector=${encodeURIComponent(selector)}`);
  expect(await list('metadata.name=mine')).toBe(200);
  expect(await list('metadata.name=other')).toBe(403);
  expect(await list('metadata.name!=mine')).toBe(403);
  expect(await list('')).toBe(403);
});
