import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { ask, checkNode } from '../../placement/filters/check-node.ts';
import { type GroupQuestion, placeGroup, podsOf } from '../placement/place-group.ts';
import type { Placement } from '../placement/trial.ts';
import type { PreemptionContext } from './preempt-pod.ts';
import { orderForReprieve, unitsBelow, type VictimUnit } from './victim-unit.ts';

export type GroupPreemption =
  | { readonly reason: 'Preempt'; readonly victims: readonly PodFacts[]; readonly nominations: readonly Placement[] }
  | { readonly reason: 'PolicyNever' | 'VictimsLeaving' | 'NoVictims'; readonly message: string };

/**
 * Decides which pods, anywhere, make room for a whole group.
 *
 *  1. a group with a member that may not preempt, or whose earlier victims are still leaving, preempts nothing
 *  2. with everything less important gone the group must fit; otherwise nobody is removed
 *  3. with the group in those places, spare whom it can do without: those a budget protects first, the most
 *     important first; groups that only live whole are removed whole
 */
export function preemptForGroup(
  question: GroupQuestion,
  { priority, group, groups = [group] }: { priority: number; group: string; groups?: readonly string[] },
  context: PreemptionContext,
): GroupPreemption {
  const { cluster, disruptionOf, now, openBudgets } = context;
  const pods = podsOf(question);
  if (pods.some(({ mayPreempt }) => !mayPreempt)) {
    return { reason: 'PolicyNever', message: 'preemption: not eligible due to preemptionPolicy=Never.' };
  }
  if (pods.some((pod) => waitsForVictims(pod, priority, context))) {
    const message = 'preemption: not eligible due to a terminating pod on the nominated node.';
    return { reason: 'VictimsLeaving', message };
  }
  const noVictims = {
    reason: 'NoVictims',
    message: 'preemption: No preemption victims found for incoming group.',
  } as const;
  if (!cluster.hasBelow(priority)) return noVictims;
  const units = unitsBelow([...cluster.all()], cluster, { disruptionOf, now, priority, spare: groups });
  if (units.length === 0) return noVictims;

  const remove = (unit: VictimUnit): void => unit.pods.forEach((placed) => cluster.remove(placed.pod.uid));
  const restore = (unit: VictimUnit): void =>
    unit.pods.forEach((placed) => cluster.place(placed.pod, placed.node.name));
  const order = orderForReprieve(units, openBudgets());
  units.forEach(remove);
  const { placements, reason } = placeGroup(question, cluster);
  if (reason === 'Unschedulable') {
    units.forEach(restore);
    return noVictims;
  }
  for (const { node, pod } of placements) cluster.place(pod, node);
  const victims: VictimUnit[] = [];
  // A unit with no pod on a chosen node matters only where pods look at each other.
  const chosen = new Set(placements.map(({ node }) => node));
  const everywhere = cluster.withAntiAffinity.size > 0 || placements.some(({ pod }) => pod.looksAtPods);
  for (const { unit } of order) {
    restore(unit);
    const inTheWay = everywhere || unit.pods.some(({ node }) => chosen.has(node.name));
    if (inTheWay && !allFit(placements, context)) {
      remove(unit);
      victims.push(unit);
    }
  }
  for (const { pod } of placements) cluster.remove(pod.uid);
  victims.forEach(restore);
  return {
    reason: 'Preempt',
    victims: victims.flatMap(({ pods: taken }) => taken.map(({ pod }) => pod)),
    nominations: placements,
  };
}

function waitsForVictims(pod: PodFacts, priority: number, { cluster }: PreemptionContext): boolean {
  const promised = cluster.node(cluster.nomination(pod.uid) ?? '');
  if (promised === undefined) return false;
  for (const other of promised.pods.values()) if (other.terminating && other.priority < priority) return true;
  return false;
}

function allFit(placements: readonly Placement[], { cluster }: PreemptionContext): boolean {
  return placements.every(({ node: name, pod }) => {
    const node = cluster.node(name);
    if (node === undefined) return false;
    cluster.remove(pod.uid);
    const fits = checkNode(ask(pod, cluster), node) === undefined;
    cluster.place(pod, name);
    return fits;
  });
}
