import { Account } from './account.ts';
import type { BlockedUnit, PlanBudget, PlanPod, PlanQuestion, PlanUnit } from './model.ts';
import { compareText } from './room.ts';

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

/**
 * Whether a unit with members to spare can only stay among the same nodes one by one: they must share a label, and as
 * long as one of them stands, its value is given. All of them at once, at the price of going down, may be anywhere.
 */
export function mayGoEitherWay({ pods, spare, unit }: Move, question: PlanQuestion): boolean {
  if (spare === 0 || unit.topology?.some(({ mode }) => mode === 'Required') !== true) return false;
  return question.pods.every((pod) => pod.unit !== unit.id || pods.includes(pod));
}

/** Whether such a move is charged: what is down already loses nothing more. */
export const isCharged = ({ spare, unit }: Move): boolean => spare === 0 && unit.healthy >= unit.needed;

/**
 * How often a unit goes down at least. One with nothing to spare goes down once, or, where another budget lets only so
 * many of its pods go at a time, once for each such part.
 */
export function countUnavoidable(move: Move, budgets: ReadonlyMap<string, PlanBudget>): number {
  const { pods } = move;
  if (!isCharged(move) || pods.length === 0) return 0;
  const charged = new Map<string, Set<string>>();
  for (const { cells = [] } of pods) {
    for (const { budget, healthy, id, needed } of cells) {
      // Only what a single loss takes down is sure to be charged for every pod of this unit.
      if (healthy !== needed) continue;
      const ids = charged.get(budget) ?? new Set();
      charged.set(budget, ids.add(id));
    }
  }
  const parts = [...charged].map(([budget, ids]) => Math.ceil(ids.size / (budgets.get(budget)?.allowance ?? ids.size)));
  return Math.max(1, ...parts);
}

/** A unit that no order of steps can move while its budgets stay as they are; undefined when they allow it. */
export function findBudgetBlock(
  { unit, pods, spare }: Move,
  budgets: ReadonlyMap<string, PlanBudget>,
): BlockedUnit | undefined {
  const nodes = [...new Set(pods.map(({ node }) => node))].sort();
  const contested = [...new Set(pods.flatMap((pod) => pod.contested ?? []))].sort();
  if (contested.length > 0) return { unit: unit.id, reason: 'OverlappingBudgets', budgets: contested, nodes };
  const own = [...new Set([...unit.budgets, ...pods.flatMap(({ cells = [] }) => cells.map(({ budget }) => budget))])];
  // Even an eviction that costs nothing needs its budget to hold.
  const broken = own.filter((id) => (budgets.get(id)?.allowance ?? 0) < 0);
  if (broken.length > 0) return { unit: unit.id, reason: 'BudgetBroken', budgets: broken, nodes };
  const refused = pods.filter((pod) => !new Account(budgets).take(unit, [pod]));
  if (refused.length === 0) return undefined;
  const counted = new Set([
    ...(spare === 0 ? unit.budgets : []),
    ...refused.flatMap(({ cells = [] }) => cells.map(({ budget }) => budget)),
  ]);
  const exhausted = [...counted].filter((id) => budgets.get(id)?.allowance === 0);
  return { unit: unit.id, reason: 'BudgetAllowsNone', budgets: exhausted, nodes };
}

/** What goes first where moves are equal. */
export function compareRank({ unit: a }: Pick<Move, 'unit'>, { unit: b }: Pick<Move, 'unit'>): number {
  return (a.rank ?? 0) - (b.rank ?? 0) || compareText(a.id, b.id);
}
