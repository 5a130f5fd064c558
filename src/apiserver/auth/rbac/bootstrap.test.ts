import { beforeEach, expect, test } from 'vitest';
import type { ClusterRole, ClusterRoleBinding } from '../../../api/generated/rbac-v1.ts';
import { builtinType } from '../../../api/registry.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { createCodec } from '../../codec/index.ts';
import { builtinResources } from '../../kinds/resources.ts';
import { inProcessTransport } from '../../server/in-process.ts';
import { createApiServer } from '../../server/server.ts';
import { bootstrapRoles } from './bootstrap.ts';
import { RBAC_GROUP } from './index-of-roles.ts';

const roles = builtinType('ClusterRole', RBAC_GROUP) as ResourceType<ClusterRole>;
const bindings = builtinType('ClusterRoleBinding', RBAC_GROUP) as ResourceType<ClusterRoleBinding>;
const scheduler = { name: 'system:kube-scheduler' };

let client: Client;

beforeEach(async () => {
  const server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock: new ManualClock(Date.now()),
    codec: createCodec(),
  });
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await bootstrapRoles(client);
});

test('23.1: every controller of kube-controller-manager has a role, and its service account is bound to it', async () => {
  const isOfController = ({ metadata: { name = '' } }: ClusterRole | ClusterRoleBinding): boolean =>
    name.startsWith('system:controller:');
  const given = (await client.list(roles, {})).items.filter(isOfController);
  expect(given.length).toBeGreaterThanOrEqual(38);
  const bound = (await client.list(bindings, {})).items.filter(isOfController);
  expect(new Set(bound.map(({ roleRef }) => roleRef.name))).toEqual(
    new Set(given.map(({ metadata }) => metadata.name)),
  );
  for (const { subjects, metadata } of bound) {
    const name = (metadata.name ?? '').replace('system:controller:', '');
    expect(subjects).toEqual([{ kind: 'ServiceAccount', name, namespace: 'kube-system' }]);
  }
});

test('23.1: kube-system and kube-public have the roles that their readers need', async () => {
  const { items } = await client.list(builtinType('Role', RBAC_GROUP), {});
  expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(
    expect.arrayContaining([
      'kube-public/system:controller:bootstrap-signer',
      'kube-system/extension-apiserver-authentication-reader',
      'kube-system/system::leader-locking-kube-controller-manager',
    ]),
  );
});

test('a second start writes nothing', async () => {
  const versions = async (): Promise<unknown[]> =>
    [...(await client.list(roles, {})).items, ...(await client.list(bindings, {})).items].map(
      ({ metadata }) => metadata.resourceVersion,
    );
  const before = await versions();
  await bootstrapRoles(client);
  expect(await versions()).toEqual(before);
});

test('a start puts missing rules, subjects and labels back and takes nothing away', async () => {
  const role = await client.get(roles, scheduler);
  const own = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] };
  const { labels: _, ...metadata } = role.metadata;
  await client.update(roles, { ...role, metadata, rules: [own] });
  const binding = await client.get(bindings, scheduler);
  const jane = { kind: 'User', apiGroup: RBAC_GROUP, name: 'jane' };
  await client.update(bindings, { ...binding, subjects: [jane] });

  await bootstrapRoles(client);

  const after = await client.get(roles, scheduler);
  expect(after.rules).toEqual([own, ...(role.rules ?? [])]);
  expect(after.metadata.labels).toEqual(role.metadata.labels);
  expect((await client.get(bindings, scheduler)).subjects).toEqual([jane, ...(binding.subjects ?? [])]);
});

test('a start leaves alone what is not marked for automatic updates', async () => {
  const role = await client.get(roles, scheduler);
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  await client.update(roles, { ...role, metadata: { ...role.metadata, annotations }, rules: [] });
  await bootstrapRoles(client);
  expect((await client.get(roles, scheduler)).rules ?? []).toEqual([]);
});

test('a binding to another role is made anew', async () => {
  const { roleRef, metadata, subjects } = await client.get(bindings, scheduler);
  await client.delete(bindings, scheduler);
  const { name, labels, annotations } = metadata;
  const other = { metadata: { name, labels, annotations }, subjects, roleRef: { ...roleRef, name: 'view' } };
  await client.create(bindings, other as ClusterRoleBinding);
  await bootstrapRoles(client);
  expect((await client.get(bindings, scheduler)).roleRef.name).toBe(scheduler.name);
});
