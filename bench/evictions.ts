/**
 * Evictions per second from 32 clients over the network, on disk, in two shapes; and how soon a budget's status follows
 * a pod. Once on `quorate up` and, where the real binaries are, once on Kubernetes' own control plane in the same run.
 *
 * Each shape is carried out several times in a row on the same host. A server does not stay as cold as it starts, so the
 * first rounds are shown and the later ones are judged: as many on either host.
 */
import { startEmbedded } from '../test/conformance/embedded.ts';
import { startRealControlPlane } from '../test/kubernetes/control-plane.ts';
import { makeBudgetedFleet } from './evictions/budgets.ts';
import { CLIENTS, connectTo, type HostConnection } from './evictions/connection.ts';
import { type Evicted, evictAll } from './evictions/fleet.ts';
import { type Latency, measureStatusLatency } from './evictions/status-latency.ts';
import { median, report } from './report.ts';

interface Shape {
  readonly name: string;
  readonly budgets: number;
  readonly pods: number;
  /** How many times as fast as Kubernetes. */
  readonly target: number;
  /** Evictions of a round on Kubernetes: fewer are enough where each takes longer. */
  readonly real: number;
  readonly warmUp: number;
  readonly measured: number;
}

const SHAPES: readonly Shape[] = [
  { name: '20 budgets × 100 pods', budgets: 20, pods: 100, target: 25, real: 250, warmUp: 5, measured: 3 },
  { name: '1 budget × 5,000 pods', budgets: 1, pods: 5000, target: 50, real: 200, warmUp: 1, measured: 3 },
];

interface Figures {
  /** By shape, in the order of the rounds. */
  readonly rounds: readonly (readonly Evicted[])[];
  readonly latencyMs: Latency;
}

export async function benchEvictions(): Promise<void> {
  const embedded = await startEmbedded({ nodes: 0 }).catch((error: unknown) => {
    report('evictions', `not measured: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (embedded === undefined) return;
  const ours = await figuresOf(embedded, freshRounds);
  const theirs = await realFigures();
  for (const [at, shape] of SHAPES.entries()) reportShape(shape, ours.rounds[at] ?? [], theirs?.rounds[at]);
  const { p50, p99 } = ours.latencyMs;
  const goal = { target: 'p99 under 5 ms', met: p99 < 5 };
  report('evictions: status follows a readiness change', `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`, goal);
  if (theirs === undefined) return;
  const real = theirs.latencyMs;
  report('  the same on Kubernetes', `p50 ${real.p50.toFixed(1)} ms, p99 ${real.p99.toFixed(1)} ms`);
}

function reportShape(shape: Shape, ours: readonly Evicted[], theirs: readonly Evicted[] | undefined): void {
  const mine = sustained(shape, ours);
  report(`evictions: ${shape.name}, ${CLIENTS} clients`, `${rate(mine)} sustained`);
  report(`  after ${shape.warmUp} rounds of warm-up, the first of them`, rate(ours[0]));
  if (theirs === undefined) return;
  const real = sustained(shape, theirs);
  report('  the same on Kubernetes', `${rate(real)} sustained`);
  report(`  after ${shape.warmUp} rounds of warm-up, the first of them`, rate(theirs[0]));
  const ratio = mine.perSecond / real.perSecond;
  const met = ratio >= shape.target;
  report('  ratio', `${ratio.toFixed(0)} times`, { target: `at least ${shape.target} times`, met });
  report('  ratio of the processor time', `${(real.cpuMs / mine.cpuMs).toFixed(0)} times`);
}

function rate(evicted: Evicted | undefined): string {
  return evicted === undefined ? 'none' : `${evicted.perSecond.toFixed(0)}/s, ${evicted.cpuMs.toFixed(2)} ms CPU each`;
}

function sustained({ warmUp }: Shape, rounds: readonly Evicted[]): Evicted {
  const measured = rounds.slice(warmUp);
  return {
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    cpuMs: median(measured.map(({ cpuMs }) => cpuMs)),
  };
}

async function realFigures(): Promise<Figures | undefined> {
  let plane: Awaited<ReturnType<typeof startRealControlPlane>>;
  try {
    plane = await startRealControlPlane({ components: ['kube-controller-manager'] });
  } catch (error) {
    report('  Kubernetes itself', `not measured: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  return figuresOf(plane, sharedRounds);
}

type Rounds = (host: HostConnection, shape: Shape, namespace: string) => Promise<Evicted[]>;

async function figuresOf(
  plane: { readonly kubeconfig: string; stop(): Promise<void> },
  roundsOf: Rounds,
): Promise<Figures> {
  const host = await connectTo(plane.kubeconfig);
  try {
    const rounds: Evicted[][] = [];
    for (const [at, shape] of SHAPES.entries()) rounds.push(await roundsOf(host, shape, `bench-${at}`));
    return { rounds, latencyMs: await measureStatusLatency(host) };
  } finally {
    host.close();
    await plane.stop();
  }
}

/** Every pod of the shape goes in each round. */
async function freshRounds(host: HostConnection, shape: Shape, namespace: string): Promise<Evicted[]> {
  const rounds: Evicted[] = [];
  for (let round = 0; round < shape.warmUp + shape.measured; round += 1) {
    const own = `${namespace}-${round}`;
    const fleet = await makeBudgetedFleet(host, own, shape);
    rounds.push(
      await evictAll(
        host.send,
        own,
        fleet.map(({ name }) => name),
      ),
    );
  }
  return rounds;
}

/** Some of the pods of one and the same fleet go in each round. */
async function sharedRounds(host: HostConnection, shape: Shape, namespace: string): Promise<Evicted[]> {
  const names = (await makeBudgetedFleet(host, namespace, shape)).map(({ name }) => name);
  const rounds: Evicted[] = [];
  for (let round = 0; round < shape.warmUp + shape.measured; round += 1) {
    rounds.push(await evictAll(host.send, namespace, names.slice(round * shape.real, (round + 1) * shape.real)));
  }
  return rounds;
}
