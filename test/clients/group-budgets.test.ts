/** The stories of KEP-5682, told with the real kubectl against the embedded host. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drainNodes, type EmbeddedHost } from '../../src/app/index.ts';
import { openCluster } from '../../src/cli/cluster.ts';
import { systemClock } from '../../src/machinery/runtime/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost({ nodes: 3 });
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=20s']);
}, 60_000);

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
  await kubectl.run(['wait', '-n', namespace, '--for=condition=Ready', 'pod', '--all', '--timeout=30s']);
}

async function untilAllowed(namespace: string, allowed: number): Promise<void> {
  const path = `jsonpath={.status.disruptionsAllowed}=${allowed}`;
  await kubectl.run(['wait', '-n', namespace, `--for=${path}`, 'pdb/train', '--timeout=20s']);
}

const evict = (namespace: string, name: string, fails = false) =>
  kubectl.run(['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }),
    fails,
  });

const podsOf = async (namespace: string): Promise<string[]> =>
  (await kubectl.out('get', 'pods', '-n', namespace, '-o', 'name')).split('\n').map((name) => name.replace('pod/', ''));

async function quorateDrain(node: string) {
  const cluster = openCluster({ kubeconfig: host.kubeconfig });
  const steps: string[] = [];
  try {
    const result = await drainNodes(
      { client: cluster.client, clock: systemClock, report: { step: (text) => steps.push(text), progress: () => {} } },
      {
        nodes: [node],
        allOrNothing: true,
        dryRun: false,
        timeoutMs: 20_000,
        rules: { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 },
      },
    );
    return { ...result, steps };
  } finally {
    cluster.close();
  }
}

test('ten gangs of eight with minAvailable 9: one gang may go, whole, and no other', async () => {
  const pods = Array.from({ length: 80 }, (_, at) =>
    pod(`g${Math.floor(at / 8)}p${at % 8}`, `${Math.floor(at / 8)}`, `node-${at % 3}`),
  );
  await begin('ten', workload(10, 8), budget(9), ...pods);
  await untilAllowed('ten', 1);
  for (let at = 0; at < 8; at += 1) await evict('ten', `g4p${at}`);
  await untilAllowed('ten', 0);
  const { stderr } = await evict('ten', 'g5p0', true);
  expect(stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget");
  expect(await kubectl.out('get', 'pdb', 'train', '-n', 'ten', '--no-headers')).toMatch(/^train\s+9\s+N\/A\s+0\s/);
  await kubectl.run(['delete', 'namespace', 'ten']);
}, 90_000);

test('three nodes: quorate drain refuses node B untouched, kubectl drain never has both groups down', async () => {
  await begin('three', workload(2, 3), budget(1), ...picture);
  await untilAllowed('three', 1);

  const refused = await quorateDrain('node-1');
  expect(refused.outcome).toBe('Refused');
  expect(refused.explanations[0]).toMatchObject({ pod: 'b0', unit: { name: 'Workload/train/g/1' } });
  expect(await podsOf('three')).toHaveLength(6);

  const drain = ['drain', 'node-1', '--force', '--ignore-daemonsets', '--delete-emptydir-data'];
  const stopped = await kubectl.run([...drain, '--timeout=4s'], { fails: true });
  expect(stopped.stderr).toContain("would violate the pod's disruption budget");
  const left = await podsOf('three');
  expect(left).toHaveLength(5);
  const [lost, key] = left.includes('a2') ? ['b0', '1'] : ['a2', '0'];

  // The group that lost a pod gets it back on another node; then the rest of the node may go.
  await apply('three', pod(`${lost}-again`, key, 'node-0'));
  await untilAllowed('three', 1);
  await kubectl.run([...drain, '--timeout=20s']);
  expect(await podsOf('three')).toHaveLength(5);
  await kubectl.run(['uncordon', 'node-1']);
  await kubectl.run(['delete', 'namespace', 'three']);
}, 90_000);

test('three nodes: the same budget counted in pods lets a drain of node B break both groups', async () => {
  await begin('pods', workload(2, 3), budget(3, { 'policy.quorate.dev/budget-scope': 'Pod' }), ...picture);
  await untilAllowed('pods', 3);
  await kubectl.run(['drain', 'node-1', '--force', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=20s']);
  expect((await podsOf('pods')).sort()).toEqual(['a0', 'a1', 'b1', 'b2']);
  await kubectl.run(['uncordon', 'node-1']);
  await kubectl.run(['delete', 'namespace', 'pods']);
}, 90_000);

test('the queues of the disruption controller are measured', async () => {
  const text = await kubectl.out('get', '--raw', '/metrics');
  for (const name of ['workqueue_depth', 'workqueue_adds_total']) expect(text).toContain(`${name}{name="disruption"}`);
});
