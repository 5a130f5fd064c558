import type { BlockedUnit, PlanBudget, PlanPod, PlanQuestion, PlanUnit } from './model.ts';

/** A unit that must leave nodes, with the pods that must go. */
export interface Move {
  readonly unit: PlanUnit;
  readonly pods: readonly PlanPod[];
  /**
   * Pods that may go at once without the unit going down: its healthy members beyond what it needs. Zero means that it
   * goes down, and then all its pods may go together at the price of one.
   */
  readonly spare: number;
}

/** The units with pods on nodes to drain. */
export function gatherMoves({ nodes, pods, units }: PlanQuestion): Move[] {
  const draining = new Set(nodes.filter(({ drain }) => drain).map(({ name }) => name));
  const byUnit = new Map<string, PlanPod[]>();
  for (const pod of pods) {
    if (!draining.has(pod.node)) continue;
    const list = byUnit.get(pod.unit);
    if (list === undefined) byUnit.set(pod.unit, [pod]);
    else list.push(pod);
  }
  return units
    .filter(({ id }) => byUnit.has(id))
    .map((unit) => ({ unit, pods: byUnit.get(unit.id) ?? [], spare: spareOf(unit) }));
}

function spareOf({ healthy, needed, wholesale }: PlanUnit): number {
  // A unit that is down already loses nothing more, whichever of its pods go.
  if (healthy < needed) return Number.POSITIVE_INFINITY;
  return wholesale ? 0 : healthy - needed;
}

/** No plan has fewer disruptions: every unit that must move and has nothing to spare goes down at least once. */
export function countUnavoidable(moves: readonly Move[]): number {
  return moves.filter(({ spare }) => spare === 0).length;
}

/** A unit that no order of steps can move while its budgets stay as they are; undefined when they allow it. */
export function findBudgetBlock(
  { unit, pods, spare }: Move,
  budgets: ReadonlyMap<string, PlanBudget>,
): BlockedUnit | undefined {
  const own = unit.budgets.flatMap((id) => budgets.get(id) ?? []);
  const nodes = [...new Set(pods.map(({ node }) => node))].sort();
  // Even an eviction that costs nothing needs its budget to hold.
  const broken = own.filter(({ allowance }) => allowance < 0).map(({ id }) => id);
  if (broken.length > 0) return { unit: unit.id, reason: 'BudgetBroken', budgets: broken, nodes };
  const exhausted = own.filter(({ allowance }) => allowance === 0).map(({ id }) => id);
  if (spare === 0 && exhausted.length > 0)
    return { unit: unit.id, reason: 'BudgetAllowsNone', budgets: exhausted, nodes };
  return undefined;
}
