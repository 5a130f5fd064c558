/** The story of the group proposal for PodUnavailableBudget, from its own YAML, with the real kubectl. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupEvictionSpec } from '../../src/api/quorate/group-eviction.ts';
import { type EmbeddedHost } from '../../src/app/index.ts';
import { evictGroup } from '../../src/tasks/index.ts';
import { explainTarget } from '../../src/tasks/index.ts';
import { systemClock } from '../../src/machinery/runtime/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = join(import.meta.dirname, '..', '..');
const namespace = 'inference';
let host: EmbeddedHost;
let kubectl: Kubectl;

const STORY = `
apiVersion: apps.kruise.io/v1alpha1
kind: LeaderWorkerSet
metadata:
  name: llm-serving
  namespace: inference
spec:
  replicas: 3
  selector:
    matchLabels:
      app: llm-serving
  leaderTemplate:
    metadata:
      labels:
        app: llm-serving
        role: leader
    spec:
      containers:
      - name: leader
        image: example.com/leader:latest
  workerTemplate:
    metadata:
      labels:
        app: llm-serving
        role: worker
    spec:
      containers:
      - name: worker
        image: example.com/worker:latest
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata:
  name: llm-serving-budget
  namespace: inference
spec:
  selector:
    matchLabels:
      app: llm-serving
  maxUnavailable: 1
  podGroupPolicy:
    groupLabelKey: leaderworkerset.sigs.k8s.io/group-index
    minReadyReplicas: 3
`;

beforeAll(async () => {
  host = await startHost({ nodes: 3 });
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['create', 'namespace', namespace]);
  await kubectl.run(['apply', '-f', '-'], { stdin: STORY });
  await served();
}, 300_000);

afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

/** Three shards are whole, and the budget has seen it. */
async function served(): Promise<void> {
  for (const [path, what] of [
    ['{.status.readyReplicas}=3', 'leaderworkerset.apps.kruise.io/llm-serving'],
    ['{.status.currentAvailable}=3', 'pub/llm-serving-budget'],
    ['{.status.unavailableAllowed}=1', 'pub/llm-serving-budget'],
  ] as const) {
    await kubectl.run(['wait', '-n', namespace, `--for=jsonpath=${path}`, what, '--timeout=120s']);
  }
}

/** While no node takes pods, a shard that lost one stays down; that keeps slow machines from missing it. */
const holdDown = () => kubectl.run(['cordon', '--selector=kubernetes.io/os']);
const letServe = () => kubectl.run(['uncordon', '--selector=kubernetes.io/os']);

const evict = (name: string, fails = false) =>
  kubectl.run(['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }),
    fails,
  });

const uidOf = (name: string): Promise<string> =>
  kubectl.out('get', 'pod', name, '-n', namespace, '-o', 'jsonpath={.metadata.uid}');

const takeGroup = (spec: GroupEvictionSpec) =>
  evictGroup({ client: host.client, clock: systemClock }, { namespace, spec, dryRun: false, timeoutMs: 60_000 });

function quorate(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'src', 'cli', 'main.ts'), ...args], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: host.kubeconfig },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

test('the proposal verbatim: nine pods in three shards, one of which may go', async () => {
  const labels = 'jsonpath={.items[*].metadata.labels.leaderworkerset\\.sigs\\.k8s\\.io/group-index}';
  expect((await kubectl.out('get', 'pods', '-n', namespace, '-o', labels)).split(' ').sort().join('')).toBe(
    '000111222',
  );
  expect(await kubectl.out('get', 'pub', '-n', namespace, '--no-headers')).toMatch(
    /llm-serving-budget\s+1\s+3\s+2\s+3/,
  );
});

test('one worker of shard 0 goes, no pod of the others may, the rest of shard 0 may; later the next shard', async () => {
  const before = await uidOf('llm-serving-0');
  await holdDown();
  await evict('llm-serving-0-1');
  for (const other of ['llm-serving-1', 'llm-serving-1-2', 'llm-serving-2', 'llm-serving-2-1']) {
    expect((await evict(other, true)).stderr).toMatch(/would make group llm-serving\/\d unavailable/);
  }
  const deleted = await kubectl.run(['delete', 'pod', 'llm-serving-1-1', '-n', namespace], { fails: true });
  expect(deleted.stderr).toContain('unavailable now: llm-serving/0');
  const why = await explainTarget(host.client, { target: 'pod/llm-serving-1', namespace, now: Date.now() });
  expect(why.granted).toBe(false);
  expect(why.lines).toContain('To unblock: wait until group llm-serving/0 is available again.');
  // The set replaces the whole group as soon as it misses a pod; then these are gone already, which is as good.
  for (const rest of ['llm-serving-0-2', 'llm-serving-0']) {
    const path = `/api/v1/namespaces/${namespace}/pods/${rest}/eviction`;
    const stdin = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: rest, namespace } });
    const answer = await kubectl.run(['create', '--raw', path, '-f', '-'], { stdin }).catch(String);
    if (typeof answer === 'string') expect(answer).toContain('not found');
  }
  await letServe();
  await expect.poll(() => uidOf('llm-serving-0').catch(() => before), { timeout: 120_000 }).not.toBe(before);
  await served();
  await evict('llm-serving-1-1');
}, 300_000);

test('quorate evict group: asks, takes a shard whole, and is told why not the next', async () => {
  await served();
  const leader = await uidOf('llm-serving-2');
  const asked = await quorate(
    'evict',
    'group',
    `${namespace}/llm-serving`,
    '--lws-group',
    '2',
    '--dry-run',
    '-o',
    'json',
  );
  expect(asked).toMatchObject({ code: 0 });
  expect(JSON.parse(asked.stdout)).toMatchObject({
    outcome: 'WouldEvict',
    pods: ['llm-serving-2', 'llm-serving-2-1', 'llm-serving-2-2'],
  });
  expect(await uidOf('llm-serving-2')).toBe(leader);
  await holdDown();
  expect(await takeGroup({ leaderWorkerSet: { name: 'llm-serving', groupIndex: 2 } })).toMatchObject({
    outcome: 'Evicted',
    pods: ['llm-serving-2', 'llm-serving-2-1', 'llm-serving-2-2'],
  });
  const refused = await quorate('evict', 'group', `${namespace}/llm-serving`, '--lws-group', '1');
  expect(refused.code).toBe(3);
  expect(refused.stdout).toContain('Cannot evict group LeaderWorkerSet llm-serving/1 (3 pods)');
  expect(refused.stdout).toContain('To unblock: wait until group llm-serving/2 is available again.');
  expect(await kubectl.out('get', 'gev', '-n', namespace, '--no-headers')).toMatch(/True\s+AllMembersEvicted/);
  expect(await takeGroup({ podGroupName: 'nobody' })).toMatchObject({ outcome: 'NoSuchGroup' });
  await letServe();
}, 300_000);

test('kubectl drain across the fleet waits for each shard and finishes; no two are down at once', async () => {
  await served();
  let lowest = 3;
  const watching = kubectl.until(
    ['get', 'pub', 'llm-serving-budget', '-n', namespace, '-w', '-o', 'jsonpath={.status.currentAvailable}{"\\n"}'],
    (text) => {
      for (const line of text.trim().split('\n')) if (line !== '') lowest = Math.min(lowest, Number(line));
      return drained;
    },
  );
  let drained = false;
  const onNode = await kubectl.out('get', 'pods', '-n', namespace, '-o', 'jsonpath={.items[*].spec.nodeName}');
  const nodes = [...new Set(onNode.split(' '))].sort().slice(0, 2);
  for (const node of nodes) {
    const { stderr, stdout } = await kubectl.run(['drain', node, '--ignore-daemonsets', '--force', '--timeout=120s']);
    expect(`${stdout}${stderr}`).toContain(`node/${node} drained`);
    expect(await kubectl.out('get', 'pods', '-n', namespace, '-o', 'jsonpath={.items[*].spec.nodeName}')).not.toContain(
      node,
    );
    await kubectl.run(['uncordon', node]);
  }
  drained = true;
  // Any change ends the watch.
  await kubectl.run(['annotate', 'pub', 'llm-serving-budget', '-n', namespace, 'test/end=1']);
  await watching;
  expect(lowest).toBe(2);
  await served();
}, 300_000);

test('gangs of a LeaderWorkerSet: PodGroups in every version, and a PDB that counts them by itself', async () => {
  const gangs = 'gangs';
  const ask = (...args: string[]): Promise<string> => kubectl.out('-n', gangs, ...args);
  const wait = (path: string, what: string) =>
    kubectl.run(['wait', '-n', gangs, `--for=jsonpath=${path}`, what, '--timeout=60s']);
  const take = (name: string, fails = false) =>
    kubectl.run(['create', '--raw', `/api/v1/namespaces/${gangs}/pods/${name}/eviction`, '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: gangs } }),
      fails,
    });
  await kubectl.run(['create', 'namespace', gangs]);
  await kubectl.run(['apply', '-n', gangs, '-f', join(root, 'examples', 'gangs', 'serving.yaml')]);
  await wait('{.status.readyReplicas}=2', 'lws/chat');
  await wait('{.status.disruptionsAllowed}=1', 'pdb/chat');
  const numbers = 'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.desiredHealthy}';
  expect(await ask('get', 'pdb', 'chat', '-o', numbers)).toBe('2/2/1');

  const minimum = 'jsonpath={.items[*].spec.schedulingPolicy.gang.minCount}';
  for (const version of ['v1beta1', 'v1alpha2']) {
    expect(await ask('get', `podgroups.${version}.scheduling.k8s.io`, '-o', minimum)).toBe('3 3');
  }
  expect((await ask('get', 'workloads', '-o', 'name')).trim().split('\n')).toHaveLength(1);
  const named = 'jsonpath={.items[*].spec.schedulingGroup.podGroupName}';
  const groups = (await ask('get', 'pods', '-o', named)).split(' ').sort();
  expect([groups.length, new Set(groups).size]).toEqual([6, 2]);

  await holdDown();
  await take('chat-0-1');
  expect((await take('chat-1', true)).stderr).toContain('disruption budget');
  await letServe();
  await wait('{.status.disruptionsAllowed}=1', 'pdb/chat');
  const after = new Set((await ask('get', 'pods', '-o', named)).split(' '));
  expect([...after].filter((name) => groups.includes(name))).toHaveLength(1);
  await take('chat-1');
}, 180_000);
