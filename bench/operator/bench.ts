/**
 * The operator beside Kubernetes' own API server and etcd with 150,000 pods: the memory it takes, and what its webhook
 * adds to an eviction. The operator is a process of its own, started as in its image.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { builtinType } from '../../src/api/registry.ts';
import { namespaceType } from '../../src/api/resource-types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { definitions, type OperatorMode } from '../../src/webhook/index.ts';
import { findBinaries } from '../../test/kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../../test/kubernetes/control-plane.ts';
import { report } from '../report.ts';
import { measureLatency } from './latency.ts';
import { memoryOf, processorMs, standstills } from './machine.ts';
import { budgetsInNamespace, NAMESPACES, seedPods } from './seed.ts';
import { measureStatusReviews } from './status-reviews.ts';
import { until } from './wait.ts';

const PODS = Number(process.env['QUORATE_BENCH_PODS'] ?? 150_000);
const SYSTEM = 'quorate-system';
const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
/** For profiles of the operator: `--cpu-prof --cpu-prof-dir=…`. */
const MORE_FLAGS = (process.env['QUORATE_BENCH_NODE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');

export async function benchOperator(): Promise<void> {
  if (findBinaries('1.36', ['etcd', 'kube-apiserver', 'kubectl']) === undefined || !existsSync(MAIN)) {
    report('operator', 'not measured: the Kubernetes binaries or dist/ are missing');
    return;
  }
  const { perSecond, share } = standstills(15);
  report(
    'operator: a processor stands still for 3 ms or longer',
    `${perSecond.toFixed(2)} times a second, ${(100 * share).toFixed(1)} % of the time, with nothing else running`,
  );
  const plane = await startRealControlPlane({
    components: [],
    featureGates: 'GenericWorkload=true',
    runtimeConfig: 'scheduling.k8s.io/v1alpha2=true',
    flags: { etcd: ['--quota-backend-bytes=4294967296'] },
  });
  const connect = (token?: string) => {
    const found = loadKubeconfig({ path: plane.kubeconfig });
    const transport = createHttpTransport(
      token === undefined ? found : { ...found, token: () => Promise.resolve(token) },
    );
    return { transport, client: createClient({ transport: transport.send, userAgent: 'bench' }) };
  };
  const [{ client, transport }, builtin] = [connect(), connect(plane.managerToken)];
  try {
    await prepare(client);
    const { podBytes } = await seedPods(client, plane.etcd, PODS);
    report(`operator: pods in etcd, ${(podBytes / 1024).toFixed(1)} KB each as JSON`, String(PODS));
    await running(plane, 'adopt', async (operator) => {
      await ready(client, operator);
      const measured = { ...operator, systemNamespace: SYSTEM, pods: PODS };
      const cleanUp = await measureStatusReviews({ builtin: builtin.client, client }, measured);
      reportMemory(operator, 'HL-08 operator, mode adopt');
      return cleanUp;
    });
    await running(plane, 'replace', async (operator) => {
      await ready(client, operator);
      reportMemory(operator, 'operator');
      await measureLatency(client, { ...operator, systemNamespace: SYSTEM, pods: PODS });
    });
  } finally {
    transport.close();
    builtin.transport.close();
    await plane.stop();
  }
}

const BUDGETS = NAMESPACES * budgetsInNamespace(PODS);

/** Runs an operator for as long as it is measured; what is answered is done once it has ended. */
async function running(
  plane: RealControlPlane,
  mode: OperatorMode,
  measure: (operator: Running) => Promise<void | (() => Promise<void>)>,
): Promise<void> {
  const operator = await startProcess(plane, mode);
  let after: void | (() => Promise<void>);
  try {
    after = await measure(operator);
  } finally {
    await endProcess(operator);
  }
  await after?.();
}

async function ready(client: Client, { mode, pid, readyMs }: Running): Promise<void> {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  report(
    `operator: ready in mode ${mode} after`,
    `${seconds(readyMs)}, ${seconds(processorMs(pid))} of processor time`,
  );
  await ledgersReady(client);
}

function reportMemory({ pid }: Running, what: string): void {
  const { peakMb, residentMb } = memoryOf(pid);
  const goal = { target: 'under 600 MB', met: peakMb < 600 };
  const figures = `${residentMb.toFixed(0)} MB, at most ${peakMb.toFixed(0)} MB`;
  report(`${what}: resident with ${PODS} pods, ${BUDGETS} budgets`, figures, goal);
}

const typeOf = (kind: string, group: string) => builtinType(kind, group);

async function prepare(client: Client): Promise<void> {
  await client.create(namespaceType, { metadata: { name: SYSTEM } });
  for (const definition of definitions()) {
    await client.create(typeOf('CustomResourceDefinition', 'apiextensions.k8s.io'), definition as KubeObject);
  }
  // Plays the built-in disruption controller.
  await client.create(typeOf('ClusterRoleBinding', 'rbac.authorization.k8s.io'), {
    metadata: { name: 'bench-manager' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'system:kube-controller-manager', apiGroup: 'rbac.authorization.k8s.io' }],
  } as KubeObject);
  await until('the definitions to be served', async () => {
    await client.list(disruptionLedgerType);
    return true;
  });
}

interface Running {
  readonly mode: OperatorMode;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly readyMs: number;
}

function startProcess(plane: RealControlPlane, mode: OperatorMode): Promise<Running> {
  const started = performance.now();
  const flags = ['--mode', mode, '--host', '127.0.0.1', '--webhook-port', '0', '--metrics-port', '0'];
  const child = spawn(
    process.execPath,
    [...imageFlags(), ...MORE_FLAGS, MAIN, 'operator', '--kubeconfig', plane.kubeconfig, ...flags],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`the operator ended with ${code}: ${text}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const port = /webhook on port (\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      resolve({ mode, child, pid: child.pid ?? 0, port: Number(port), readyMs: performance.now() - started });
    });
  });
}

/** While there is still an API server to take its leave from. */
function endProcess({ child }: Running): Promise<void> {
  return new Promise((resolve) => {
    child.removeAllListeners('exit').once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** What Node is started with in the image. */
function imageFlags(): string[] {
  const entry = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8'))?.[1] ?? '[]';
  return (JSON.parse(entry) as string[]).filter((word) => word.startsWith('--'));
}

/** All budgets over gangs have their numbers. */
async function ledgersReady(client: Client): Promise<void> {
  await until('the ledgers', async () => {
    const { items } = await client.list(disruptionLedgerType);
    return items.filter(({ status }) => (status?.disruptionsAllowed ?? 0) > 0).length === BUDGETS;
  });
}
