import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { evictGroup } from '../../src/tasks/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { podType } from '../../src/api/resource-types.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { servedPodGroup } from '../../src/api/scheduling/index.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { buildProgram } from './group-eviction-program.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let client: Client;
let close: () => void;
const { until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);

beforeAll(async () => {
  // Without this gate, which 1.37 no longer has, PodGroups of 1.36 have no disruptionMode.
  const isGated = stage.groupVersion === 'v1alpha2';
  plane = await stage.startPlane(isGated ? stage.servingGroups('WorkloadAwarePreemption=true') : {});
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'first', 'alongside');
  await stage.registerWebhooks(plane, operator);
  const http = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  client = createClient({ transport: http.send, userAgent: 'test' });
  close = () => http.close();
});

afterAll(async () => {
  close?.();
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const pod = (name: string, labels: Record<string, string>, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels },
  spec: {
    nodeName: 'node-0',
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
    ...more,
  },
});

async function ready(app: string, count: number): Promise<void> {
  const path = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  await until(`${count} ready pods of ${app}`, async () => {
    const text = await kubectl('get', 'pods', '-l', `app=${app}`, '-o', path);
    return text.split(' ').filter((value) => value === 'True').length === count;
  });
}

/** Pods of an app that are still wanted. */
async function left(app: string): Promise<string[]> {
  const { items } = await client.list(
    { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
    { namespace: 'default', labelSelector: `app=${app}` },
  );
  return items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? '');
}

const evict = (spec: Parameters<typeof evictGroup>[1]['spec'], dryRun = false) =>
  evictGroup({ client, clock: systemClock }, { namespace: 'default', spec, dryRun, timeoutMs: 120_000 });

test('a shard under a PodUnavailableBudget goes whole; the next is refused with the reason, and nothing of it goes', async () => {
  const shards = ['0', '1'].flatMap((shard) => [0, 1, 2].map((at) => pod(`llm-${shard}-${at}`, { app: 'llm', shard })));
  // Held, so that it can be looked at while it goes.
  Object.assign((shards[0] as { metadata: object }).metadata, { finalizers: ['quorate.dev/look'] });
  await apply(...shards, {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: 'llm', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'llm' } },
      maxUnavailable: 1,
      protectTotalReplicas: 2,
      podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 3 },
    },
  });
  await ready('llm', 6);
  await until(
    'the budget to count both shards',
    async () => (await kubectl('get', 'pub', 'llm', '-o', 'jsonpath={.status.unavailableAllowed}')) === '1',
  );
  const shard = (value: string) => ({ groupLabel: { key: 'shard', value } });
  expect(await evict(shard('0'), true)).toMatchObject({ outcome: 'WouldEvict' });
  expect(await left('llm')).toHaveLength(6);
  expect(await kubectl('get', 'pub', 'llm', '-o', 'jsonpath={.status.unavailableAllowed}')).toBe('1');

  const gone = await evict(shard('0'));
  expect(gone).toMatchObject({ outcome: 'Evicted', pods: ['llm-0-0', 'llm-0-1', 'llm-0-2'] });
  expect(await left('llm')).toEqual(['llm-1-0', 'llm-1-1', 'llm-1-2']);
  expect(await kubectl('get', 'gev', gone.name ?? '')).toMatch(/True\s+AllMembersEvicted/);
  const target = 'jsonpath={.status.conditions[?(@.type=="DisruptionTarget")].reason}';
  expect(await kubectl('get', 'pod', 'llm-0-0', '-o', target)).toBe('GroupEviction');
  await kubectl('patch', 'pod', 'llm-0-0', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');

  const refused = await evict(shard('1'));
  expect(refused.outcome).toBe('Refused');
  expect(refused.message).toContain('would make group 1 unavailable');
  expect(refused.causes?.map(({ reason }) => reason)).toContain('QuorateUnblock');
  expect(await left('llm')).toHaveLength(3);
});

test('a gang under a PDB that counts groups goes whole at one charge, the other is refused', async () => {
  const group = (name: string) => groups.podGroup(stage.groupVersion, name, 'training', 2);
  const member = (name: string, at: number) =>
    pod(`${name}-${at}`, { app: 'training' }, { schedulingGroup: { podGroupName: name } });
  await apply(
    groups.workload(stage.groupVersion, 'training', 2),
    group('g0'),
    group('g1'),
    ...['g0', 'g1'].flatMap((name) => [member(name, 0), member(name, 1)]),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'training', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'training' } } },
    },
  );
  await ready('training', 4);
  const allowed = () =>
    kubectl('get', 'disruptionledger', 'training', '-o', 'jsonpath={.status.disruptionsAllowed}').catch(() => '');
  await until('the ledger to allow one group', async () => (await allowed()) === '1');
  expect(await evict({ podGroupName: 'g0' })).toMatchObject({ outcome: 'Evicted', pods: ['g0-0', 'g0-1'] });
  expect(await allowed()).toBe('0');
  expect(await evict({ podGroupName: 'g1' })).toMatchObject({ outcome: 'Refused' });
  expect(await left('training')).toEqual(['g1-0', 'g1-1']);
});

test("a plain PDB is charged in Kubernetes' own status, and refuses a group it has no room for", async () => {
  await apply(
    ...['left', 'right'].flatMap((shard) => [0, 1].map((at) => pod(`web-${shard}-${at}`, { app: 'web', shard }))),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    },
  );
  await ready('web', 4);
  await until(
    'the budget to allow three pods',
    async () => (await kubectl('get', 'pdb', 'web', '-o', 'jsonpath={.status.disruptionsAllowed}')) === '3',
  );
  const shard = (value: string) => ({ groupLabel: { key: 'shard', value } });
  expect(await evict(shard('left'))).toMatchObject({ outcome: 'Evicted', pods: ['web-left-0', 'web-left-1'] });
  const refused = await evict(shard('right'));
  expect(refused.outcome).toBe('Refused');
  expect(await left('web')).toEqual(['web-right-0', 'web-right-1']);
});

test('a group without pods is not found, and one named two ways is invalid', async () => {
  expect(await evict({ podGroupName: 'nobody' })).toMatchObject({ outcome: 'NoSuchGroup' });
  const both = { podGroupName: 'g1', groupLabel: { key: 'shard', value: 'right' } };
  const invalid = await evict(both);
  expect(invalid.outcome).toBe('Failed');
  expect(invalid.message).toContain('exactly one of podGroupName, leaderWorkerSet and groupLabel must be set');
});

test('of two groups asked for at the same time, by several clients, one goes whole and the other not at all', async () => {
  const app = 'race';
  await apply(...['p', 'q'].flatMap((shard) => [0, 1, 2].map((at) => pod(`race-${shard}-${at}`, { app, shard }))), {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: app, namespace: 'default' },
    spec: {
      selector: { matchLabels: { app } },
      maxUnavailable: 1,
      protectTotalReplicas: 2,
      podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 3 },
    },
  });
  await ready(app, 6);
  await until(
    'the budget to count both',
    async () => (await kubectl('get', 'pub', app, '-o', 'jsonpath={.status.unavailableAllowed}')) === '1',
  );
  const asked = Array.from({ length: 8 }, (_, at) =>
    evict({ groupLabel: { key: 'shard', value: at % 2 ? 'p' : 'q' } }),
  );
  const outcomes = new Set((await Promise.all(asked)).map(({ outcome }) => outcome));
  expect(outcomes.has('Evicted')).toBe(true);
  const rest = await left(app);
  expect(new Set(rest.map((name) => name.split('-')[1])).size).toBe(1);
  expect(rest).toHaveLength(3);
});

test('whoever may not evict pods may not evict a group either', async () => {
  await apply(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'asker' },
      rules: [{ apiGroups: ['policy.quorate.dev'], resources: ['groupevictions'], verbs: ['create'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'asker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asker' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'asker' }],
    },
  );
  const eviction = {
    apiVersion: 'policy.quorate.dev/v1alpha1',
    kind: 'GroupEviction',
    metadata: { name: 'not-mine', namespace: 'default' },
    spec: { groupLabel: { key: 'app', value: 'any' } },
  };
  const path = '/apis/policy.quorate.dev/v1alpha1/namespaces/default/groupevictions';
  const asked = client.request('POST', path, eviction, { 'impersonate-user': 'asker' });
  await expect(asked).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('it takes the right to create pods/eviction') as string,
  });
});

test('the built quorate evict group asks, takes, is refused and finds nothing, with an exit code for each', async () => {
  const quorate = await buildProgram(plane.folder, { KUBECONFIG: plane.kubeconfig });
  const app = 'serve';
  const lws = { 'leaderworkerset.sigs.k8s.io/name': app };
  const groupIndex = 'leaderworkerset.sigs.k8s.io/group-index';
  await apply(
    ...['0', '1'].flatMap((index) =>
      [0, 1].map((at) => pod(`serve-${index}-${at}`, { app, ...lws, [groupIndex]: index })),
    ),
    {
      apiVersion: 'policy.kruise.io/v1beta1',
      kind: 'PodUnavailableBudget',
      metadata: { name: app, namespace: 'default' },
      spec: {
        selector: { matchLabels: { app } },
        maxUnavailable: 1,
        protectTotalReplicas: 2,
        podGroupPolicy: { groupLabelKey: groupIndex, minReadyReplicas: 2 },
      },
    },
  );
  await ready(app, 4);
  await until(
    'the budget to count both',
    async () => (await kubectl('get', 'pub', app, '-o', 'jsonpath={.status.unavailableAllowed}')) === '1',
  );
  const take = (group: string, ...more: string[]) =>
    quorate('evict', 'group', `default/${app}`, '--lws-group', group, ...more);

  const asked = await take('0', '--dry-run', '-o', 'json');
  expect(asked).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(asked.stdout)).toMatchObject({ outcome: 'WouldEvict' });
  expect(await left(app)).toHaveLength(4);

  const taken = await take('0');
  expect(taken).toMatchObject({ code: 0, stderr: '' });
  expect(taken.stdout).toContain('serve-0-1');
  expect(await left(app)).toEqual(['serve-1-0', 'serve-1-1']);

  const refused = await take('1');
  expect(refused.code).toBe(3);
  expect(refused.stdout).toContain('Cannot evict group LeaderWorkerSet serve/1 (2 pods)');
  expect(refused.stdout).toContain('To unblock: ');
  expect(await left(app)).toEqual(['serve-1-0', 'serve-1-1']);

  const nothing = await take('7');
  expect(nothing.code).toBe(1);
  expect(nothing.stderr.trim().split('\n')).toHaveLength(1);

  const yaml = await take('1', '--dry-run', '-o', 'yaml');
  expect(yaml.code).toBe(3);
  expect(yaml.stdout).toContain('outcome: Refused');
});

test('NT-02, NT-03, NT-14 on a cluster: a gang is told, stays when that is taken back, and goes as one', async () => {
  const member = (at: number) => pod(`told-${at}`, { app: 'told' }, { schedulingGroup: { podGroupName: 'told' } });
  await apply(
    groups.workload(stage.groupVersion, 'telling', 1),
    groups.podGroup(stage.groupVersion, 'told', 'telling', 2),
    member(0),
    member(1),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'telling', namespace: 'default' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'told' } } },
    },
    {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'DisruptionPolicy',
      metadata: { name: 'telling', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'told' } }, notice: { duration: '60s' } },
    },
  );
  await ready('told', 2);
  const allowed = () =>
    kubectl('get', 'disruptionledger', 'telling', '-o', 'jsonpath={.status.disruptionsAllowed}').catch(() => '');
  await until('the ledger to allow one group', async () => (await allowed()) === '1');
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'told-0', namespace: 'default' } };
  const key = { namespace: 'default', name: 'told-0' };
  const evictOne = () => client.createSubresource(podType, key, 'eviction', body);
  await until('the policy to be known', async () => {
    const told = await evictOne().catch((error: unknown) => String(error));
    return String(told).includes('is told that it has to go');
  });
  const notice = (name: string) =>
    kubectl('get', 'pod', name, '-o', 'jsonpath={.metadata.annotations.policy\\.quorate\\.dev/notice}');
  await until(
    'both members to be told',
    async () => (await notice('told-0')) !== '' && (await notice('told-1')) !== '',
  );
  await expect(evictOne()).rejects.toThrow('is told that it has to go');
  const made = await kubectl('get', 'gev', '-l', 'policy.quorate.dev/origin=eviction', '-o', 'name');
  expect(made.trim().split('\n')).toHaveLength(1);
  expect(await allowed()).toBe('0');
  await kubectl('patch', made.trim(), '--type=merge', '-p', '{"spec":{"intent":"Withdrawn"}}');
  await until('the notice to be taken back', async () => (await notice('told-0')) === '' && (await allowed()) === '1');
  expect(await left('told')).toEqual(['told-0', 'told-1']);

  await apply({
    apiVersion: 'policy.quorate.dev/v1alpha1',
    kind: 'GroupEviction',
    metadata: { name: 'told', namespace: 'default' },
    spec: { podGroupName: 'told' },
  });
  await until('both to be told again', async () => (await notice('told-0')) !== '' && (await notice('told-1')) !== '');
  const { id } = JSON.parse(await notice('told-0')) as { id: string };
  await kubectl('annotate', 'pod', 'told-0', `policy.quorate.dev/notice-acknowledged=${id}`);
  expect(await left('told')).toHaveLength(2);
  await kubectl('annotate', 'pod', 'told-1', `policy.quorate.dev/notice-acknowledged=${id}`);
  await until('the group to go', async () => (await left('told')).length === 0);
  expect(await kubectl('get', 'gev', 'told', '-o', 'jsonpath={.status.notice.state}')).toBe('Done');
});

test('DM-01, DM-02, DM-03: the eviction of one member takes all of a group that goes as one, or is refused for all', async () => {
  const group = (name: string) => {
    const metadata = { name };
    const spec = { schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode: { all: {} } };
    return { ...servedPodGroup({ metadata, spec }, stage.groupVersion), kind: 'PodGroup' };
  };
  const member = (name: string, at: number) =>
    pod(`${name}-${at}`, { app: 'one', gang: name }, { schedulingGroup: { podGroupName: name } });
  await apply(...['one', 'held'].flatMap((name) => [group(name), ...[0, 1, 2, 3].map((at) => member(name, at))]), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'held', namespace: 'default' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { gang: 'held' } } },
  });
  await ready('one', 8);
  const refused = await stage.evict(plane, 'held-1');
  expect(refused).toContain('its group goes as one: 4 members');
  expect(await left('one')).toHaveLength(8);
  expect(await stage.evict(plane, 'one-2')).toContain('goes as one: 4 members are told to go');
  await until('all of it to go', async () => (await left('one')).every((name) => name.startsWith('held-')));
  expect(await left('one')).toHaveLength(4);
  // As a drain does that asks again: it is on its way, or gone.
  const again = await stage.evict(plane, 'one-2');
  expect(again === 'granted' || again.includes('not found')).toBe(true);
});
