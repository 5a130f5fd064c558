/**
 * A cluster that serves neither Workload nor PodGroup: definitions of ours do, our scheduler places gangs beside the
 * real one, and budgets count them. Operator and scheduler run with the rights that the installation gives them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { podType } from '../../src/api/resource-types.ts';
import {
  type ClusterScheduler,
  findGroupKinds,
  type NodesHost,
  type Operator,
  startClusterScheduler,
  startNodes,
  uninstall,
} from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import { defaultInstall, installObjects } from '../../src/webhook/index.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as stage from './stage.ts';

const { NAMESPACE, until } = stage;
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator;
let scheduler: ClusterScheduler;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);

beforeAll(async () => {
  plane = await startRealControlPlane({ minor: chosenMinor() });
  client = createNetworkClient(plane, 'quorate-test');
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  expect(await findGroupKinds(client)).toBe('crd');
  // Everything but what would run an image and what would call it: both run in this process.
  const apart = new Set(['Deployment', 'ValidatingWebhookConfiguration']);
  const objects = installObjects({ ...defaultInstall, groups: 'crd', scheduler: true });
  await apply(...objects.filter(({ kind }) => !apart.has(kind ?? '')));
  await until('the definitions to be served', async () => {
    await kubectl('get', 'disruptionledgers,pub,downscalepodpickers,workloads,podgroups', '-A');
    return true;
  });
  await until('the default service account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
  operator = await stage.startReplica(plane, 'first', 'alongside', {
    kubeconfig: await stage.accountKubeconfig(plane, 'quorate'),
  });
  await stage.registerWebhooks(plane, operator, 'crd', 'alongside', { groupCreation: true });
  scheduler = await startClusterScheduler({
    kubeconfig: await stage.accountKubeconfig(plane, 'quorate-scheduler'),
    namespace: NAMESPACE,
    log: silentLogger,
  });
});

afterAll(async () => {
  scheduler?.stop();
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const API = 'scheduling.quorate.dev/v1beta1';
const policy = (minCount: number) => ({ schedulingPolicy: { gang: { minCount } } });
const podGroup = (name: string, minCount: number) => ({
  apiVersion: API,
  kind: 'PodGroup',
  metadata: { name, namespace: 'default' },
  spec: { ...policy(minCount), workloadRef: { workloadName: 'training', templateName: 'gang' } },
});
/** Such an API server drops spec.schedulingGroup; the annotation says the same. */
const member = (group: string, index: number, cpu: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `${group}-${index}`,
    namespace: 'default',
    labels: { app: 'training' },
    annotations: { 'groups.quorate.dev/schedulingGroup': JSON.stringify({ podGroupName: group }) },
  },
  spec: {
    schedulerName: 'quorate-scheduler',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu } } }],
  },
});
const boundOf = async (prefix: string): Promise<number> => {
  const { items } = await client.list(podType, { namespace: 'default' });
  return items.filter(({ metadata, spec }) => metadata.name?.startsWith(prefix) && spec?.nodeName).length;
};
const scheduled = (name: string): Promise<string> =>
  kubectl('get', 'podgroup', name, '-o', 'jsonpath={.status.conditions[0].type}={.status.conditions[0].status}');

test('gangs are placed whole or not at all beside the real scheduler', async () => {
  await apply(
    {
      apiVersion: API,
      kind: 'Workload',
      metadata: { name: 'training', namespace: 'default' },
      spec: { podGroupTemplates: [{ name: 'gang', ...policy(2) }] },
    },
    podGroup('g0', 2),
    podGroup('g1', 2),
    podGroup('wide', 3),
    ...['g0', 'g1'].flatMap((group) => [member(group, 0, '1m'), member(group, 1, '1m')]),
    // Two fit, one on each node; the third nowhere.
    ...[0, 1, 2].map((index) => member('wide', index, '10')),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'theirs', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }] },
    },
  );
  await until('both gangs to be placed', async () => (await boundOf('g')) === 4);
  await until('the real scheduler to place its pod', async () => (await boundOf('theirs')) === 1);
  await until(
    'the groups to say so',
    async () =>
      (await scheduled('g0')) === 'PodGroupInitiallyScheduled=True' &&
      (await scheduled('wide')) === 'PodGroupInitiallyScheduled=False',
  );
  expect(await boundOf('wide')).toBe(0);
});

test('a budget counts them: one gang goes, the other is refused with the reason', async () => {
  await apply({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'training', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'training' } } },
  });
  const numbers = 'jsonpath={.status.unit} {.status.currentHealthy} {.status.disruptionsAllowed}';
  await until(
    'the ledger to count both gangs',
    async () =>
      (await kubectl('get', 'disruptionledger', 'training', '-o', numbers).catch(() => '')) === 'PodGroup 2 1',
  );
  await until('the built-in count to allow evictions', async () => {
    const allowed = await kubectl('get', 'pdb', 'training', '-o', 'jsonpath={.status.disruptionsAllowed}');
    return Number(allowed) > 0;
  });
  expect(await stage.evict(plane, 'g0-0')).toBe('granted');
  expect(await stage.evict(plane, 'g1-0')).toContain('disruption budget');
});

test('GC-05 a Job that asks gets groups of our kinds, which its pods name by an annotation', async () => {
  // Asked about everywhere: these suites state the webhooks by hand.
  await apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'asks', namespace: 'default', annotations: { 'groups.quorate.dev/create': 'true' } },
    spec: {
      parallelism: 2,
      completions: 2,
      completionMode: 'Indexed',
      template: {
        metadata: { labels: { app: 'asks' } },
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
        },
      },
    },
  });
  const podsOf = async () => (await client.list(podType, { namespace: 'default', labelSelector: 'app=asks' })).items;
  await until('its pods to run', async () => {
    const pods = await podsOf();
    return pods.length === 2 && pods.every(({ status }) => status?.phase === 'Running');
  });
  const named = new Set(
    (await podsOf()).map(({ metadata }) => metadata.annotations?.['groups.quorate.dev/schedulingGroup']),
  );
  expect(named.size).toBe(1);
  const { podGroupName } = JSON.parse([...named][0] ?? '{}') as { podGroupName: string };
  const owners = 'jsonpath={.metadata.ownerReferences[*].kind}/{.spec.schedulingPolicy.gang.minCount}';
  expect(await kubectl('get', 'podgroups.scheduling.quorate.dev', podGroupName, '-o', owners)).toBe('Job Workload/2');
  await kubectl('delete', 'job', 'asks', '--wait=false');
  await until('its groups to be gone', async () => {
    const left = await kubectl(
      'get',
      'workloads,podgroups',
      '-o',
      'name',
      '-l',
      'app.kubernetes.io/managed-by=quorate',
    );
    return left.trim() === '' && (await podsOf()).length === 0;
  });
});

test('a PodGroup that makes no sense is refused with its path', async () => {
  const bad = { ...podGroup('bad', 1), spec: { schedulingPolicy: { basic: {}, gang: { minCount: 1 } } } };
  await expect(apply(bad)).rejects.toThrow(/spec\.schedulingPolicy/);
});

test('installing again finds its own definitions; uninstall removes them and all else', async () => {
  expect(await findGroupKinds(client)).toBe('crd');
  await uninstall(client, { namespace: NAMESPACE, keepDefinitions: false, removed: () => {} });
  await until('everything of ours to be gone', async () => {
    const kinds =
      'sa,roles,rolebindings,clusterroles,clusterrolebindings,validatingwebhookconfigurations,crds,namespaces';
    const left = await kubectl('get', kinds, '-A', '-l', 'app.kubernetes.io/managed-by=quorate', '-o', 'name');
    return left.trim() === '';
  });
});
