/** `quorate install --wait` on a real cluster, and what drains do to the replicas that it installs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import {
  createClient,
  createHttpTransport,
  type HttpTransport,
  Informer,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { type Ended, runProgram } from './program.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost | undefined;
let operator: Operator | undefined;
let transport: HttpTransport;
const { NAMESPACE, until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);

beforeAll(async () => {
  plane = await startRealControlPlane({ minor: chosenMinor() });
  transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  transport?.close();
  await plane?.stop();
});

const install = (...args: string[]): Promise<Ended> =>
  runProgram('install', '--wait', '--kubeconfig', plane.kubeconfig, ...args);

const filled = (): Promise<string> =>
  kubectl(
    'get',
    'mutatingwebhookconfigurations,validatingwebhookconfigurations',
    '-o',
    'jsonpath={.items[*].webhooks[*].name}',
  );

test('WS-01, WS-02: where no replica can start, install --wait says why, exits with 3, and nothing is asked', async () => {
  const { code, stderr, stdout } = await install('--timeout', '15s');
  expect(stdout).toContain('deployment/quorate applied');
  expect(code).toBe(3);
  expect(stderr).toMatch(/quorate install: not ready after 15 s: replicas: .*not scheduled: /);
  expect(await filled()).toBe('');
});

test('WS-02: it returns when replicas are ready, one leads and the API server asks it', async () => {
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  const installed = install();
  // The simulated pods serve nothing: a replica outside of the cluster is the one that leads.
  operator = await stage.startReplica(plane, 'outside', 'adopt');
  const { code, stderr, stdout } = await installed;
  expect([code, stderr.includes('not ready')]).toEqual([0, false]);
  expect(stdout).toContain('Quorate answers in namespace "quorate-system", mode adopt.');
  expect(await filled()).toContain('status.quorate.dev');
  // Applied once more it takes nothing away, and returns at once.
  const before = await filled();
  expect((await install()).code).toBe(0);
  expect(await filled()).toBe(before);
});

test('the namespace enforces PodSecurity "restricted", and the pods of operator and scheduler pass it', async () => {
  const asked = async (spec: unknown): Promise<string> => {
    const path = join(plane.folder, 'restricted.json');
    const metadata = { name: 'asked', namespace: NAMESPACE };
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
    return kubectl('create', '--dry-run=server', '-f', path).catch(({ stderr }: { stderr: string }) => stderr);
  };
  const { stdout } = await runProgram('install', '--scheduler');
  const deployments = parseAllDocuments(stdout)
    .map((document) => document.toJS() as { kind?: string; spec?: { template: { spec: object } } } | null)
    .filter((object) => object?.kind === 'Deployment');
  expect(deployments).toHaveLength(2);
  for (const one of deployments) {
    // Its account is not there: only the scheduler's, which is not installed here.
    const spec = { ...one?.spec?.template.spec, serviceAccountName: 'default' };
    expect(await asked(spec)).toContain('pod/asked created');
    expect(await asked({ ...spec, hostNetwork: true })).toContain('violates PodSecurity "restricted:latest"');
  }
});

test('WS-10: replicas are on two nodes; drains of one, and then of the one with both, never leave none ready', async () => {
  const selector = 'app.kubernetes.io/name=quorate';
  const placed = async (): Promise<string[]> =>
    (await kubectl('get', 'pods', '-n', NAMESPACE, '-l', selector, '-o', 'jsonpath={.items[*].spec.nodeName}'))
      .split(' ')
      .sort();
  // Those that are there may have been placed when there was but one node.
  await kubectl('delete', 'pods', '-n', NAMESPACE, '-l', selector, '--grace-period=0', '--force');
  await until('one on each node', async () => (await placed()).join() === 'node-0,node-1');
  await kubectl('rollout', 'status', 'deployment/quorate', '-n', NAMESPACE, '--timeout=120s');
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  const informer = new Informer({
    client,
    clock: systemClock,
    log: silentLogger,
    type: podType,
    namespace: NAMESPACE,
    labelSelector: selector,
  });
  const isReady = ({ metadata, status }: Pod): boolean =>
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True') === true;
  let fewest = Number.POSITIVE_INFINITY;
  const count = (): void => {
    fewest = Math.min(fewest, informer.list().filter(isReady).length);
  };
  const abort = new AbortController();
  informer.start(abort.signal);
  await informer.whenSynced();
  informer.addHandler({ updated: count, deleted: count });
  const drain = (node: string): Promise<string> =>
    kubectl('drain', node, '--ignore-daemonsets', `--pod-selector=${selector}`, '--timeout=240s');
  await drain('node-0');
  await until('both to run on the other node', async () => informer.list().filter(isReady).length === 2);
  expect(await placed()).toEqual(['node-1', 'node-1']);
  await kubectl('uncordon', 'node-0');
  await drain('node-1');
  await until('both to be ready', () => informer.list().filter(isReady).length === 2);
  abort.abort();
  expect(fewest).toBeGreaterThanOrEqual(1);
});
