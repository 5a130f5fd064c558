import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { ask, checkNode } from '../../placement/filters/check-node.ts';
import { type Diagnosis, formatUnavailable } from '../../placement/filters/diagnosis.ts';
import { type ChargeBudgets, type DisruptionOf, orderForReprieve, unitsBelow, type VictimUnit } from './victim-unit.ts';

export interface PreemptionContext {
  readonly cluster: Cluster;
  readonly disruptionOf: DisruptionOf;
  /** Starts a fresh account of the budgets. */
  readonly openBudgets: () => ChargeBudgets;
  /** For what is the dearer the longer its last checkpoint was ago. */
  readonly now?: number | undefined;
}

export type PodPreemption =
  | { readonly reason: 'Preempt'; readonly node: string; readonly victims: readonly PodFacts[] }
  | { readonly reason: 'PolicyNever' | 'VictimsLeaving' | 'NoVictims'; readonly message: string };

interface Candidate {
  readonly node: NodeFacts;
  readonly units: readonly VictimUnit[];
  readonly violations: number;
}

const LEAST_CANDIDATES = 100;

/**
 * Decides which pods make room for one more important pod.
 *
 *  1. a pod that may not preempt, or whose earlier victims are still leaving, preempts nothing
 *  2. on each node that losing pods could open: remove everything less important, then spare whom the pod can do
 *     without, those a budget protects first, the most important first
 *  3. choose the node with the fewest broken budgets, then the least important victims, then the fewest
 */
export function preemptForPod(pod: PodFacts, diagnosis: Diagnosis, context: PreemptionContext): PodPreemption {
  const { cluster } = context;
  if (!pod.mayPreempt) {
    return { reason: 'PolicyNever', message: 'preemption: not eligible due to preemptionPolicy=Never.' };
  }
  if (isVictimLeaving(pod, cluster)) {
    return {
      reason: 'VictimsLeaving',
      message: 'preemption: not eligible due to a terminating pod on the nominated node.',
    };
  }
  const open = diagnosis.resolvable;
  const candidates: Candidate[] = [];
  const enough = Math.max(LEAST_CANDIDATES, Math.floor(cluster.nodes.length / 10));
  if (cluster.hasBelow(pod.priority)) {
    for (const node of open) {
      const candidate = selectVictims(pod, node, context);
      if (candidate !== undefined) candidates.push(candidate);
      if (candidates.length >= enough) break;
    }
  }
  const best = candidates.toSorted(compareCandidates)[0];
  if (best === undefined) {
    const counts = new Map<string, number>();
    if (open.length > 0) counts.set('No preemption victims found for incoming pod', open.length);
    const hopeless = diagnosis.nodeCount - open.length;
    if (hopeless > 0) counts.set('Preemption is not helpful for scheduling', hopeless);
    return { reason: 'NoVictims', message: `preemption: ${formatUnavailable(diagnosis.nodeCount, counts)}` };
  }
  const victims = best.units.flatMap(({ pods }) => pods.map((placed) => placed.pod));
  return { reason: 'Preempt', node: best.node.name, victims };
}

/** Room was already made on the promised node; its pods only have to finish leaving. */
function isVictimLeaving(pod: PodFacts, cluster: Cluster): boolean {
  const promised = cluster.node(cluster.nomination(pod.uid) ?? '');
  if (promised === undefined) return false;
  for (const other of promised.pods.values()) if (other.terminating && other.priority < pod.priority) return true;
  return false;
}

function selectVictims(pod: PodFacts, node: NodeFacts, context: PreemptionContext): Candidate | undefined {
  const { cluster, disruptionOf, now, openBudgets } = context;
  const here = [...node.pods.values()].map((other) => ({ pod: other, node }));
  const units = unitsBelow(here, cluster, {
    disruptionOf,
    now,
    priority: pod.priority,
    spare: pod.group === undefined ? [] : [pod.group],
  });
  if (units.length === 0) return undefined;
  const remove = (unit: VictimUnit): void => unit.pods.forEach((placed) => cluster.remove(placed.pod.uid));
  const restore = (unit: VictimUnit): void =>
    unit.pods.forEach((placed) => cluster.place(placed.pod, placed.node.name));
  const fits = (): boolean => checkNode(ask(pod, cluster), node) === undefined;

  const order = orderForReprieve(units, openBudgets());
  units.forEach(remove);
  const victims: VictimUnit[] = [];
  let violations = 0;
  const possible = fits();
  if (possible) {
    for (const { unit, violates } of order) {
      restore(unit);
      if (fits()) continue;
      remove(unit);
      victims.push(unit);
      if (violates) violations += 1;
    }
    victims.forEach(restore);
  } else {
    units.forEach(restore);
  }
  return possible && victims.length > 0 ? { node, units: victims, violations } : undefined;
}

const highest = ({ units }: Candidate): number => Math.max(...units.map(({ priority }) => priority));
/** Each victim weighs its priority above the lowest there is, so that one more is always worse. */
const LOWEST_PRIORITY = -2_147_483_648;
const total = ({ units }: Candidate): number =>
  units.reduce((sum, { pods, priority }) => sum + (priority - LOWEST_PRIORITY) * pods.length, 0);
const count = ({ units }: Candidate): number => units.reduce((sum, { pods }) => sum + pods.length, 0);
const youngestStart = (candidate: Candidate): number => {
  const top = highest(candidate);
  return Math.min(...candidate.units.filter(({ priority }) => priority === top).map(({ startedAt }) => startedAt));
};

/** Better candidates first; at the end the one whose most important victims started last has lost the least work. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    total(a) - total(b) ||
    count(a) - count(b) ||
    youngestStart(b) - youngestStart(a)
  );
}
