/**
 * Evictions per second from 32 clients over the network, on disk, in two shapes; and how soon a budget's status follows
 * a pod. Once on `quorate up` and, where the real binaries are, once on Kubernetes' own control plane in the same run.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Pod } from '../src/api/generated/core-v1.ts';
import {
  namespaceType,
  nodeType,
  podDisruptionBudgetType,
  podType,
  serviceAccountType,
} from '../src/api/resource-types.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  isAlreadyExists,
  loadKubeconfig,
  type ServerAccess,
} from '../src/machinery/runtime/index.ts';
import { startEmbedded } from '../test/conformance/embedded.ts';
import { startRealControlPlane } from '../test/kubernetes/control-plane.ts';
import { createLoad, expectStatus, type LoadTarget, type Send } from './control-plane/load.ts';
import { report } from './report.ts';

const CLIENTS = 32;
const SHAPES = [
  { name: '20 budgets × 100 pods', budgets: 20, pods: 100, target: 25, real: 400 },
  { name: '1 budget × 5,000 pods', budgets: 1, pods: 5000, target: 50, real: 300 },
];
/** Carried out before anything is measured, on either host: a server does not stay as cold as it starts. */
const WARM_UP = { budgets: 20, pods: 25 };
const FLIPS = 200;

interface Figures {
  readonly perSecond: readonly number[];
  /** Processor time of the whole control plane; says more than the rate where the machine is busy with other things. */
  readonly cpuMs: readonly number[];
  readonly latencyMs: { readonly p50: number; readonly p99: number };
}

export async function benchEvictions(): Promise<void> {
  const embedded = await startEmbedded({ nodes: 0 }).catch((error: unknown) => {
    report('evictions', `not measured: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (embedded === undefined) return;
  const ours = await figuresOf(embedded, (shape) => shape.budgets * shape.pods);
  const theirs = await realFigures();
  for (const [at, shape] of SHAPES.entries()) {
    const mine = ours.perSecond[at] ?? 0;
    report(`evictions: ${shape.name}, ${CLIENTS} clients`, `${mine.toFixed(0)}/s`);
    report('  processor time of each', `${(ours.cpuMs[at] ?? 0).toFixed(2)} ms`);
    const real = theirs?.perSecond[at];
    if (real === undefined) continue;
    const met = mine >= shape.target * real;
    report('  the same on Kubernetes', `${real.toFixed(0)}/s, ${(theirs?.cpuMs[at] ?? 0).toFixed(2)} ms`);
    report('  ratio', `${(mine / real).toFixed(0)} times`, { target: `at least ${shape.target} times`, met });
  }
  const { p50, p99 } = ours.latencyMs;
  const goal = { target: 'p99 under 5 ms', met: p99 < 5 };
  report('evictions: status follows a readiness change', `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`, goal);
  if (theirs !== undefined) {
    report(
      '  the same on Kubernetes',
      `p50 ${theirs.latencyMs.p50.toFixed(1)} ms, p99 ${theirs.latencyMs.p99.toFixed(1)} ms`,
    );
  }
}

async function realFigures(): Promise<Figures | undefined> {
  let plane: Awaited<ReturnType<typeof startRealControlPlane>>;
  try {
    plane = await startRealControlPlane({ components: ['kube-controller-manager'] });
  } catch (error) {
    report('  Kubernetes itself', `not measured: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  return figuresOf(plane, (shape) => shape.real);
}

/** Fewer evictions are enough where each takes longer. */
async function figuresOf(
  host: { readonly kubeconfig: string; stop(): Promise<void> },
  evictions: (shape: (typeof SHAPES)[number]) => number,
): Promise<Figures> {
  const access = loadKubeconfig({ path: host.kubeconfig });
  const transport = createHttpTransport(access);
  const load = createLoad(await loadTarget(access), CLIENTS);
  const client = createClient({ transport: transport.send, userAgent: 'bench' });
  try {
    await ensure(client.create(nodeType, { metadata: { name: 'bench-node' } }));
    await evictAll(load.send, 'bench-warm-up', await setUp(client, 'bench-warm-up', WARM_UP));
    const perSecond: number[] = [];
    const cpuMs: number[] = [];
    for (const [at, shape] of SHAPES.entries()) {
      const namespace = `bench-${at}`;
      const names = await setUp(client, namespace, shape);
      const some = names.slice(0, evictions(shape));
      const before = childCpuMs();
      perSecond.push(await evictAll(load.send, namespace, some));
      cpuMs.push((childCpuMs() - before) / some.length);
    }
    return { perSecond, cpuMs, latencyMs: await statusLatency(client) };
  } finally {
    load.close();
    transport.close();
    await host.stop();
  }
}

/** Evictions are sent by a client that costs next to nothing: it shares the machine with what it measures. */
async function loadTarget({ server, ca, clientCert, clientKey, token }: ServerAccess): Promise<LoadTarget> {
  const bearer = await token?.();
  return {
    server,
    tls: {
      ...(ca !== undefined && { ca }),
      ...(clientCert !== undefined && { cert: clientCert }),
      ...(clientKey !== undefined && { key: clientKey }),
    },
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
  };
}

async function setUp(client: Client, namespace: string, shape: { budgets: number; pods: number }): Promise<string[]> {
  await ensure(client.create(namespaceType, { metadata: { name: namespace } }));
  await ensure(client.create(serviceAccountType, { metadata: { name: 'default', namespace } }));
  for (let budget = 0; budget < shape.budgets; budget += 1) {
    await client.create(podDisruptionBudgetType, {
      metadata: { name: `b-${budget}`, namespace },
      spec: { minAvailable: 0, selector: { matchLabels: { set: `s-${budget}` } } },
    });
  }
  const names: string[] = [];
  for (let pod = 0; pod < shape.pods; pod += 1) {
    for (let budget = 0; budget < shape.budgets; budget += 1) names.push(`p-${budget}-${pod}`);
  }
  await eachOf(names, async (name) => {
    await createPod(client, { namespace, name, set: `s-${name.split('-')[1]}` });
  });
  for (let budget = 0; budget < shape.budgets; budget += 1) {
    for (;;) {
      const { status } = await client.get(podDisruptionBudgetType, { namespace, name: `b-${budget}` });
      if (status?.disruptionsAllowed === shape.pods) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return names;
}

async function createPod(
  client: Client,
  { name, namespace, set }: { namespace: string; name: string; set: string },
): Promise<Pod> {
  const pod = await client.create(podType, {
    metadata: { name, namespace, labels: { set } },
    spec: {
      containers: [{ name: 'main', image: 'x' }],
      nodeName: 'bench-node',
      automountServiceAccountToken: false,
    },
  });
  return setReady(client, pod, true);
}

function setReady(client: Client, pod: Pod, ready: boolean): Promise<Pod> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const { metadata, spec } = pod;
  const { resourceVersion: _any, ...rest } = metadata;
  return client.updateStatus(podType, { metadata: rest, spec, status: { phase: 'Running', conditions } });
}

/** Processor time of the processes this one started, where the system tells. */
export function childCpuMs(): number {
  let ticks = 0;
  for (const name of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // After the command in brackets: state, parent, …, user time 12th, system time 13th.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) === process.pid) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // The process ended while we looked.
    }
  }
  return ticks * 10;
}

/** Every name once, by 32 clients, each with its own request under way. Returns the rate. */
async function evictAll(send: Send, namespace: string, names: readonly string[]): Promise<number> {
  const started = performance.now();
  await eachOf(names, async (name) => {
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    await expectStatus(send('POST', path, JSON.stringify(body)), 201);
  });
  return (names.length * 1000) / (performance.now() - started);
}

export async function eachOf(names: readonly string[], run: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) await run(name);
  };
  await Promise.all(Array.from({ length: CLIENTS }, worker));
}

/** From the answer to a readiness change until a watch of the budget shows it. */
async function statusLatency(client: Client): Promise<{ p50: number; p99: number }> {
  const namespace = 'bench-latency';
  await setUp(client, namespace, { budgets: 1, pods: 100 });
  let pod = await client.get(podType, { namespace, name: 'p-0-0' });
  const waiters: ((at: number) => void)[] = [];
  const stop = new AbortController();
  const { metadata } = await client.list(podDisruptionBudgetType, { namespace });
  const seen = new Map<number, number>();
  const follow = (async () => {
    const options = { namespace, resourceVersion: metadata.resourceVersion, signal: stop.signal };
    for await (const { object } of client.watch(podDisruptionBudgetType, options)) {
      seen.set(object.status?.currentHealthy ?? -1, performance.now());
      for (const waiter of waiters.splice(0)) waiter(object.status?.currentHealthy ?? -1);
    }
  })().catch(() => {});
  const times: number[] = [];
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const want = flip % 2 === 0 ? 99 : 100;
    seen.delete(want);
    pod = await setReady(client, pod, flip % 2 === 1);
    const answered = performance.now();
    while (!seen.has(want)) await new Promise<number>((resolve) => waiters.push(resolve));
    times.push(Math.max(0, (seen.get(want) ?? answered) - answered));
  }
  stop.abort();
  await follow;
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(FLIPS * 0.5)] ?? 0, p99: times[Math.floor(FLIPS * 0.99)] ?? 0 };
}

async function ensure(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
