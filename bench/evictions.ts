/**
 * Evictions per second from 32 clients over the network, on disk, in two shapes; and how soon a budget's status follows
 * a pod. Once on `quorate up` and, where the real binaries are, once on Kubernetes' own control plane in the same run.
 *
 * Each shape is carried out several times, a round on the one host and then a round on the other, so that a machine
 * that slows down for a while slows both. A server does not stay as cold as it starts: the first rounds are shown and
 * the later ones are judged, as many on either host.
 */
import { startEmbedded } from '../test/conformance/embedded.ts';
import { startRealControlPlane } from '../test/kubernetes/control-plane.ts';
import { makeBudgetedFleet } from './evictions/budgets.ts';
import { CLIENTS, connectTo, type HostConnection } from './evictions/connection.ts';
import { type Evicted, evictAll } from './evictions/fleet.ts';
import { type Flips, type Latency, measureStatusLatency } from './evictions/status-latency.ts';
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
  { name: '20 budgets × 100 pods', budgets: 20, pods: 100, target: 25, real: 160, warmUp: 5, measured: 7 },
  { name: '1 budget × 5,000 pods', budgets: 1, pods: 5000, target: 50, real: 200, warmUp: 1, measured: 3 },
];

/** The just-in-time compiler takes seconds of one change after the other until it has nothing left to do. */
const FLIPS: Flips = { warmUp: 2000, measured: 1000 };
/** Kubernetes' programs come compiled, and each change takes them fifty times as long. */
const REAL_FLIPS: Flips = { warmUp: 200, measured: 400 };

export async function benchEvictions(): Promise<void> {
  const embedded = await startEmbedded({ nodes: 0 }).catch((error: unknown) => {
    report('evictions', `not measured: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (embedded === undefined) return;
  const real = await startReal();
  const measured: Measured[] = [await measuredHost(embedded, freshRounds)];
  if (real !== undefined) measured.push(await measuredHost(real, sharedRounds));
  try {
    for (const shape of SHAPES) await carryOut(shape, measured);
    await reportLatency(measured);
  } finally {
    for (const { host, plane } of measured) {
      host.close();
      await plane.stop();
    }
  }
}

async function carryOut(shape: Shape, measured: readonly Measured[]): Promise<void> {
  const runners: Round[] = [];
  for (const { host, roundsOf } of measured) runners.push(await roundsOf(host, shape));
  const evicted: Evicted[][] = measured.map(() => []);
  for (let round = 0; round < shape.warmUp + shape.measured; round += 1) {
    for (const [at, run] of runners.entries()) {
      evicted[at]?.push(await alone(measured, at, () => run(round)));
    }
  }
  reportShape(shape, evicted[0] ?? [], evicted[1]);
}

/** Whoever is not measured is held. */
async function alone<T>(measured: readonly Measured[], at: number, measure: () => Promise<T>): Promise<T> {
  for (const [other, { plane }] of measured.entries()) if (other !== at) plane.pause();
  try {
    return await measure();
  } finally {
    for (const { plane } of measured) plane.resume();
  }
}

async function reportLatency(measured: readonly Measured[]): Promise<void> {
  const [ours, theirs] = measured;
  if (ours === undefined) return;
  const { first, sustained } = await alone(measured, 0, () => measureStatusLatency(ours.host, FLIPS));
  const goal = { target: 'p99 under 5 ms', met: sustained.p99 < 5 };
  report('evictions: status follows a readiness change', latencies(sustained), goal);
  report(`  during the ${FLIPS.warmUp} changes of warm-up`, latencies(first));
  if (theirs === undefined) return;
  const real = await alone(measured, 1, () => measureStatusLatency(theirs.host, REAL_FLIPS));
  report('  the same on Kubernetes', latencies(real.sustained));
}

function latencies({ p50, p99 }: Latency): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
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

interface Plane {
  readonly kubeconfig: string;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

interface Measured {
  readonly plane: Plane;
  readonly host: HostConnection;
  readonly roundsOf: Rounds;
}

/** Prepares a shape; what it returns carries out one round of it. */
type Rounds = (host: HostConnection, shape: Shape) => Promise<Round>;
type Round = (round: number) => Promise<Evicted>;

async function startReal(): Promise<Plane | undefined> {
  try {
    return await startRealControlPlane({ components: ['kube-controller-manager'] });
  } catch (error) {
    report('  Kubernetes itself', `not measured: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function measuredHost(plane: Plane, roundsOf: Rounds): Promise<Measured> {
  return { plane, host: await connectTo(plane.kubeconfig), roundsOf };
}

const namespaceOf = ({ budgets, pods }: Shape): string => `bench-${budgets}-${pods}`;

/** Every pod of the shape goes in each round. */
const freshRounds: Rounds = async (host, shape) => async (round) => {
  const namespace = `${namespaceOf(shape)}-${round}`;
  const fleet = await makeBudgetedFleet(host, namespace, shape);
  const names = fleet.map(({ name }) => name);
  return evictAll(host.send, namespace, names);
};

/** Some of the pods of one and the same fleet go in each round. */
const sharedRounds: Rounds = async (host, shape) => {
  const namespace = namespaceOf(shape);
  const names = (await makeBudgetedFleet(host, namespace, shape)).map(({ name }) => name);
  return (round) => evictAll(host.send, namespace, names.slice(round * shape.real, (round + 1) * shape.real));
};
