/** What of KEP-5682 only the embedded host can show; test/scenarios/stories tells the rest on every host. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost({ nodes: 3 });
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
}, 300_000);

afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

const apply = (namespace: string, ...objects: object[]) =>
  kubectl.run(['apply', '-n', namespace, '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });

const workload = (replicas: number, minCount: number) => ({
  apiVersion: 'scheduling.k8s.io/v1alpha1',
  kind: 'Workload',
  metadata: { name: 'train' },
  spec: { podGroups: [{ name: 'g', replicas, policy: { gang: { minCount } } }] },
});

const budget = (minAvailable: number, annotations: Record<string, string> = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'train', annotations },
  spec: { minAvailable, selector: { matchLabels: { app: 'train' } } },
});

const pod = (name: string, key: string, nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'train' } },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 0,
    workloadRef: { name: 'train', podGroup: 'g', podGroupReplicaKey: key },
    containers: [{ name: 'main', image: 'train' }],
  },
});

/** Nodes A, B and C: two groups of three, of which B holds one pod each. */
const picture = [
  pod('a0', '0', 'node-0'),
  pod('a1', '0', 'node-0'),
  pod('a2', '0', 'node-1'),
  pod('b0', '1', 'node-1'),
  pod('b1', '1', 'node-2'),
  pod('b2', '1', 'node-2'),
];

async function begin(namespace: string, ...objects: object[]): Promise<void> {
  await kubectl.run(['create', 'namespace', namespace]);
  await apply(namespace, ...objects);
  await kubectl.run(['wait', '-n', namespace, '--for=condition=Ready', 'pod', '--all', '--timeout=120s']);
}

async function untilAllowed(namespace: string, allowed: number): Promise<void> {
  const path = `jsonpath={.status.disruptionsAllowed}=${allowed}`;
  await kubectl.run(['wait', '-n', namespace, `--for=${path}`, 'pdb/train', '--timeout=120s']);
}

const podsOf = async (namespace: string): Promise<string[]> =>
  (await kubectl.out('get', 'pods', '-n', namespace, '-o', 'name')).split('\n').map((name) => name.replace('pod/', ''));

test('three nodes: the same budget counted in pods lets a drain of node B break both groups', async () => {
  await begin('pods', workload(2, 3), budget(3, { 'policy.quorate.dev/budget-scope': 'Pod' }), ...picture);
  await untilAllowed('pods', 3);
  await kubectl.run(['drain', 'node-1', '--force', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=120s']);
  expect((await podsOf('pods')).sort()).toEqual(['a0', 'a1', 'b1', 'b2']);
  await kubectl.run(['uncordon', 'node-1']);
  await kubectl.run(['delete', 'namespace', 'pods']);
}, 300_000);

test('the queues of the disruption controller are measured', async () => {
  const text = await kubectl.out('get', '--raw', '/metrics');
  for (const name of ['workqueue_depth', 'workqueue_adds_total']) expect(text).toContain(`${name}{name="disruption"}`);
});
