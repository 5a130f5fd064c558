import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes, uninstall } from '../../src/app/index.ts';
import { createClient, createHttpTransport, loadKubeconfig, silentLogger } from '../../src/machinery/runtime/index.ts';
import { defaultInstall, installObjects } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
const operators: Operator[] = [];
const { NAMESPACE, until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const evict = (name: string): Promise<string> => stage.evict(plane, name);

async function startReplica(identity: string): Promise<Operator> {
  const operator = await stage.startReplica(plane, identity, 'alongside');
  operators.push(operator);
  return operator;
}

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 3 } });
  await stage.prepareCluster(plane);
  await stage.registerWebhooks(plane, await startReplica('first'));
});

afterAll(async () => {
  for (const operator of operators) await operator.stop();
  nodes?.stop();
  await plane?.stop();
});

const podGroup = (name: string) => groups.podGroup(stage.groupVersion, name, 'training', 2);
const member = (group: string, index: number, node: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${group}-${index}`, namespace: 'default', labels: { app: 'training' } },
  spec: {
    nodeName: node,
    terminationGracePeriodSeconds: 1,
    schedulingGroup: { podGroupName: group },
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
  },
});

async function trainingReady(): Promise<void> {
  const ready = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}';
  await until('four ready pods', async () => {
    const text = await kubectl('get', 'pods', '-l', 'app=training', '-o', ready);
    return text.split(' ').filter((value) => value === 'True').length === 4;
  });
  const numbers = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
  await until('the ledger to count them', async () => {
    const text = await kubectl('get', 'disruptionledger', 'training', '-o', numbers).catch(() => '');
    return text === '2/1';
  });
  await stage.untilBuiltinAllows(plane, 'training', '4/3');
}

test('a PDB over two gangs lets one gang go, freely once it is down, and refuses the other with the reason', async () => {
  await apply(
    groups.workload(stage.groupVersion, 'training', 2),
    podGroup('g0'),
    podGroup('g1'),
    ...['g0', 'g1'].flatMap((group) => [member(group, 0, 'node-0'), member(group, 1, 'node-1')]),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'training', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'training' } } },
    },
  );
  await trainingReady();
  expect(await kubectl('get', 'disruptionledger', 'training')).toMatch(/PodGroup\s+2\s+2\s+1\s+1/);
  expect(await evict('g0-0')).toBe('granted');
  expect(await evict('g1-0')).toContain('disruption budget');
  expect(await kubectl('get', 'pod', 'g1-0', '-o', 'name')).toBe('pod/g1-0\n');
});

test('kubectl drain takes one gang, waits until it serves again elsewhere, then takes the other', async () => {
  const names = (): Promise<string> => kubectl('get', 'pods', '-l', 'app=training', '-o', 'name');
  await until('the evicted pod to be gone', async () => !(await names()).includes('g0-0'));
  await apply(member('g0', 0, 'node-0'));
  await trainingReady();
  const drained = kubectl('drain', 'node-0', '--force', '--ignore-daemonsets', '--timeout=240s');
  await until('one of the two to go', async () => !/g0-0[^]*g1-0/.test(await names()));
  const gone = (await names()).includes('g0-0') ? 'g1' : 'g0';
  const other = gone === 'g0' ? 'g1' : 'g0';
  expect(await names()).toContain(`${other}-0`);
  await apply(member(gone, 0, 'node-1'));
  expect(await drained).toContain('node/node-0 drained');
  expect(await names()).not.toContain(`${other}-0`);
  expect(await names()).toContain(`${gone}-0`);
});

test('a PodUnavailableBudget guards plain deletes on the cluster, counted in shards', async () => {
  const shard = (index: number, worker: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `llm-${index}-${worker}`, namespace: 'default', labels: { app: 'llm', shard: String(index) } },
    spec: { nodeName: 'node-2', containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }] },
  });
  await apply(...[0, 1].flatMap((index) => [shard(index, 0), shard(index, 1)]), {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: 'llm', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'llm' } },
      maxUnavailable: 1,
      protectTotalReplicas: 2,
      podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 2 },
    },
  });
  await until(
    'the budget to count both shards',
    async () => (await kubectl('get', 'pub', 'llm', '-o', 'jsonpath={.status.unavailableAllowed}')) === '1',
  );
  await kubectl('delete', 'pod', 'llm-0-0', '--wait=false');
  await expect(kubectl('delete', 'pod', 'llm-1-0', '--wait=false')).rejects.toThrow(/would make group 1 unavailable/);
  await kubectl('delete', 'pod', 'llm-0-1', '--wait=false');
});

test('a budget that makes no sense is refused by the webhook with its path', async () => {
  const bad = {
    apiVersion: 'policy.kruise.io/v1beta1',
    kind: 'PodUnavailableBudget',
    metadata: { name: 'bad', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'x' } }, maxUnavailable: '120%' },
  };
  await expect(apply(bad)).rejects.toThrow(
    /spec\.maxUnavailable: Invalid value: "120%": must not be greater than 100%/,
  );
});

/** Asks one replica as the API server would. */
function review(operator: Operator, pod: string): Promise<boolean> {
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: pod,
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      namespace: 'default',
      name: pod,
      userInfo: { username: 'drainer' },
      object: { metadata: { name: pod } },
    },
  });
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: operator.webhookPort,
        path: operator.reviewPath('/validate-eviction'),
        method: 'POST',
        headers: { 'content-length': Buffer.byteLength(body) },
        ca: operator.authority,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve((JSON.parse(text) as { response: { allowed: boolean } }).response.allowed));
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

test('two replicas asked 64 times at once never let more groups go than the budget allows', async () => {
  const groups = Array.from({ length: 8 }, (_, index) => `crowd-${index}`);
  const crowd = (group: string, index: number) => {
    const pod = member(group, index, 'node-2');
    return { ...pod, metadata: { ...pod.metadata, labels: { app: 'crowd' } } };
  };
  await apply(...groups.map(podGroup), ...groups.flatMap((group) => [crowd(group, 0), crowd(group, 1)]), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'crowd', namespace: 'default' },
    spec: { minAvailable: 8, selector: { matchLabels: { app: 'crowd' } } },
  });
  // The gangs of the other tests share the Workload, and with it the family that this budget counts.
  const numbers = 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}';
  await until('the ledger to count the crowd', async () =>
    /^(8\/0|9\/1|10\/2)$/.test(await kubectl('get', 'disruptionledger', 'crowd', '-o', numbers).catch(() => '')),
  );
  const allowed = Number(
    (await kubectl('get', 'disruptionledger', 'crowd', '-o', 'jsonpath={.status.disruptionsAllowed}')) || 0,
  );
  const replicas = [operators[0] as Operator, await startReplica('second')];
  const asked = Array.from({ length: 64 }, (_, at) => ({
    pod: `crowd-${at % 8}-${(at >> 3) % 2}`,
    operator: replicas[at % 2] as Operator,
  }));
  const answers = await Promise.all(
    asked.map(async ({ operator, pod }) => ({ pod, granted: await review(operator, pod) })),
  );
  const down = new Set(answers.filter(({ granted }) => granted).map(({ pod }) => pod.split('-').slice(0, 2).join('-')));
  expect(down.size).toBe(allowed);
});

test('a replica that waited for the lease leads when the first gives it back', async () => {
  const second = operators[1] as Operator;
  expect(second.isLeading()).toBe(false);
  await operators[0]?.stop();
  operators.shift();
  await until('the second replica to lead', () => second.isLeading());
});

test('what quorate install prints applies cleanly, and uninstall leaves nothing behind', async () => {
  await apply(...installObjects({ ...defaultInstall, failOpen: true }));
  const client = createClient({
    transport: createHttpTransport(loadKubeconfig({ path: plane.kubeconfig })).send,
    userAgent: 'test',
  });
  const removed: string[] = [];
  await uninstall(client, { namespace: NAMESPACE, keepDefinitions: false, removed: (what) => removed.push(what) });
  expect(removed).toContain('validatingwebhookconfiguration/quorate');
  const kinds =
    'deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations,customresourcedefinitions,namespaces';
  await until('everything of ours to be gone', async () => {
    const left = await kubectl('get', kinds, '-A', '-l', 'app.kubernetes.io/managed-by=quorate', '-o', 'name');
    return left.trim() === '';
  });
});
