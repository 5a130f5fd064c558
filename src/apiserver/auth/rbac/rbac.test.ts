import { beforeEach, expect, test } from 'vitest';
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import { type Fixture, fixture } from '../auth.fixture.ts';
import { forbiddenAccess } from '../../access/forbidden-access.ts';
import { createRbacAuthorizer, type RbacAuthorizer } from './authorizer.ts';
import { uncovered } from './cover.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { RBAC_GROUP, RoleIndex } from './index-of-roles.ts';

let world: Fixture;
let authorizer: RbacAuthorizer;

beforeEach(async () => {
  world = fixture();
  authorizer = createRbacAuthorizer(new RoleIndex(world));
  for (const object of [...bootstrapPolicy().roles, ...bootstrapPolicy().bindings]) {
    await world.put(RBAC_GROUP, `${(object.kind ?? '').toLowerCase()}s`, { ...object });
  }
});

const jane = { username: 'jane', groups: ['dev', 'system:authenticated'] };

function may(verb: string, resource: string, namespace?: string, more: { name?: string; group?: string } = {}) {
  const [plural = '', subresource] = resource.split('/', 2);
  return authorizer.authorize({
    user: jane,
    verb,
    resource: {
      group: more.group ?? '',
      version: 'v1',
      plural,
      ...(subresource && { subresource }),
      ...(namespace && { namespace }),
      ...(more.name && { name: more.name }),
    },
  });
}

async function bind(role: string, namespace: string, subject: object = { kind: 'User', name: 'jane' }): Promise<void> {
  await world.put(RBAC_GROUP, 'rolebindings', {
    metadata: { namespace, name: `${role}-for` },
    subjects: [subject],
    roleRef: { kind: 'ClusterRole', name: role },
  });
}

test('an authenticated user may look at discovery and ask about themselves, nothing else', () => {
  expect(may('list', 'pods', 'team').allowed).toBe(false);
  expect(authorizer.authorize({ user: jane, verb: 'get', path: '/apis/apps/v1' }).allowed).toBe(true);
  expect(may('create', 'selfsubjectaccessreviews', undefined, { group: 'authorization.k8s.io' }).allowed).toBe(true);
});

test('an anonymous user sees health and version only', () => {
  const user = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
  const paths = [
    '/healthz',
    '/livez',
    '/readyz',
    '/version',
    '/api',
    '/apis',
    '/openapi/v3',
    '/metrics',
    '/livez/etcd',
  ];
  const seen = paths.filter((path) => authorizer.authorize({ user, verb: 'get', path }).allowed);
  expect(seen).toEqual(['/healthz', '/livez', '/readyz', '/version']);
});

test('a role binding grants in its namespace only, and stops when it is removed', async () => {
  await bind('view', 'team');
  expect(may('list', 'pods', 'team')).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "view-for/team" of ClusterRole "view" to User "jane"',
  });
  expect(may('list', 'pods', 'other').allowed).toBe(false);
  expect(may('list', 'pods').allowed).toBe(false);
  expect(may('create', 'pods', 'team').allowed).toBe(false);
  expect(may('get', 'secrets', 'team').allowed).toBe(false);
  await world.remove(RBAC_GROUP, 'rolebindings', 'team', 'view-for');
  expect(may('list', 'pods', 'team').allowed).toBe(false);
});

test('aggregated roles hold the rules of their parts, also of parts added later', async () => {
  await bind('admin', 'team');
  expect(may('create', 'pods/eviction', 'team').allowed).toBe(true);
  expect(may('get', 'configmaps', 'team').allowed).toBe(true);
  expect(may('update', 'rolebindings', 'team', { group: RBAC_GROUP }).allowed).toBe(true);
  expect(may('get', 'widgets', 'team', { group: 'example.com' }).allowed).toBe(false);
  await world.put(RBAC_GROUP, 'clusterroles', {
    metadata: { name: 'widgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }],
  });
  expect(may('get', 'widgets', 'team', { group: 'example.com' }).allowed).toBe(true);
});

test('groups and service accounts are subjects too', async () => {
  await bind('view', 'team', { kind: 'Group', name: 'dev' });
  expect(may('list', 'pods', 'team').allowed).toBe(true);
  await bind('edit', 'team', { kind: 'ServiceAccount', name: 'bot', namespace: 'ci' });
  const bot = { username: 'system:serviceaccount:ci:bot', groups: [] };
  const ask = { group: '', version: 'v1', plural: 'pods', namespace: 'team' };
  expect(authorizer.authorize({ user: bot, verb: 'create', resource: ask }).allowed).toBe(true);
});

const ruleCases: { name: string; rule: PolicyRule; want: Record<string, boolean> }[] = [
  {
    name: 'a plain resource does not cover its subresources',
    rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    want: { pods: true, 'pods/log': false },
  },
  {
    name: 'a star covers everything',
    rule: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    want: { pods: true, 'pods/log': true },
  },
  {
    name: 'a subresource of everything',
    rule: { verbs: ['get'], apiGroups: [''], resources: ['*/log'] },
    want: { pods: false, 'pods/log': true },
  },
];
for (const { name, rule, want } of ruleCases) {
  test(`rules: ${name}`, async () => {
    await world.put(RBAC_GROUP, 'clusterroles', { metadata: { name: 'x' }, rules: [rule] });
    await bind('x', 'team');
    for (const [resource, allowed] of Object.entries(want)) {
      expect(may('get', resource, 'team').allowed, resource).toBe(allowed);
    }
  });
}

test('resource names limit a rule to those objects', async () => {
  await world.put(RBAC_GROUP, 'clusterroles', {
    metadata: { name: 'x' },
    rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] }],
  });
  await bind('x', 'team');
  expect(may('get', 'configmaps', 'team', { name: 'a' }).allowed).toBe(true);
  expect(may('get', 'configmaps', 'team', { name: 'b' }).allowed).toBe(false);
  expect(may('list', 'configmaps', 'team').allowed).toBe(false);
});

test('a binding to a missing role is named in the refusal', async () => {
  await bind('nobody', 'team');
  expect(may('list', 'pods', 'team')).toEqual({
    allowed: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "nobody" not found',
  });
});

test('system:masters may do everything', () => {
  const user = { username: 'root', groups: ['system:masters'] };
  expect(authorizer.authorize({ user, verb: 'delete', path: '/anything' }).allowed).toBe(true);
});

test('forbiddenAccess() says who may not do what, where', () => {
  const nodes = { group: '', version: 'v1', plural: 'nodes' };
  expect(forbiddenAccess({ user: { ...jane, username: 'x' }, verb: 'list', resource: nodes }, undefined)).toMatchObject(
    {
      code: 403,
      message: 'nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope',
    },
  );
  const scale = {
    group: 'apps',
    version: 'v1',
    plural: 'deployments',
    subresource: 'scale',
    namespace: 'a',
    name: 'd',
  };
  expect(forbiddenAccess({ user: jane, verb: 'patch', resource: scale }, undefined).message).toBe(
    'deployments.apps "d" is forbidden: User "jane" cannot patch resource "deployments/scale" in API group "apps" in the namespace "a"',
  );
  expect(forbiddenAccess({ user: jane, verb: 'get', path: '/metrics' }, undefined)).toMatchObject({
    message: 'forbidden: User "jane" cannot get path "/metrics"',
    status: { details: {} },
  });
});

test('uncovered() lists exactly what is granted beyond what is held', () => {
  const held = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/*'] }];
  const wanted = [{ verbs: ['get', 'delete'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }];
  expect(uncovered(held, wanted)).toEqual([
    { verbs: ['delete'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
  ]);
  expect(uncovered([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], wanted)).toEqual([]);
  expect(
    uncovered(
      [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }],
      [{ verbs: ['get'], nonResourceURLs: ['/api/v1', '/x'] }],
    ),
  ).toEqual([{ verbs: ['get'], nonResourceURLs: ['/x'] }]);
});
