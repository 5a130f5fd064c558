import { Account, goesDown } from './account.ts';
import type { PlanBudget, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import type { Move } from './moves.ts';
import { compareText } from './room.ts';
import { PlanState } from './state.ts';

export interface GreedyPlan {
  readonly steps: readonly PlanStep[];
  /** What found no room. */
  readonly left: readonly Move[];
}

/**
 * Fills step after step. In each step, where drained nodes come back, the units of the node that is cheapest to empty
 * come first:
 *  1. a unit with spare members gives as many as it can spare, and does not go down
 *  2. a unit without goes whole, once, if each of its budgets has allowance left in this step; in parts only where some
 *     budget never lets all its pods go together
 *  3. either only if all its pods fit elsewhere
 * If nothing can go for want of room, the node with the fewest pods left is emptied piecemeal, which may take a unit
 * down that will go down again.
 */
export function planGreedily(
  question: PlanQuestion,
  moves: readonly Move[],
  budgets: ReadonlyMap<string, PlanBudget>,
): GreedyPlan {
  const podById = new Map(question.pods.map((pod) => [pod.id, pod]));
  const pending = new Map(moves.map((move) => [move.unit.id, move]));
  const state = new PlanState(question);
  const steps: PlanStep[] = [];
  const done = state.takeEmpty();
  if (done.length > 0) steps.push({ evictions: [], completes: done });
  while (pending.size > 0) {
    let evictions = fillStep(pending, state, { budgets, nodesReturn: question.nodesReturn });
    if (evictions.length === 0 && question.nodesReturn) evictions = emptyOneNode(pending, state, budgets);
    if (evictions.length === 0) break;
    takeOff(pending, evictions);
    steps.push({ evictions, completes: state.settle(evictions, podById) });
  }
  return { steps, left: [...pending.values()] };
}

/** One step. Where nodes do not come back, order cannot matter for room, so every unit that may go does. */
function fillStep(
  pending: ReadonlyMap<string, Move>,
  state: PlanState,
  { budgets, nodesReturn }: { budgets: ReadonlyMap<string, PlanBudget>; nodesReturn: boolean },
): UnitEviction[] {
  const account = new Account(budgets);
  const evictions = new Map<string, UnitEviction>();
  // Holds also what must wait for another step, so that room is kept for it.
  const reserved = nodesReturn ? state.room.copy() : undefined;
  for (const move of nodesReturn ? byNearestNode(pending, state) : inOrder(pending.values())) {
    if (evictions.has(move.unit.id)) continue;
    // The node in focus cannot be emptied any more: what lies behind it must not eat the room it waits for.
    if (reserved !== undefined && reserved.place(move.pods) === undefined) break;
    const pods = choosePods(move, state, { account, budgets });
    if (pods.length > 0) evictions.set(move.unit.id, evictionOf(move, pods));
  }
  return [...evictions.values()];
}

/** Larger units first: they are the harder ones to place. */
function inOrder(moves: Iterable<Move>): Move[] {
  return [...moves].sort((a, b) => b.pods.length - a.pods.length || compareText(a.unit.id, b.unit.id));
}

/** The units of the node that takes the fewest pods to empty, then those of the next, each unit once. */
function* byNearestNode(pending: ReadonlyMap<string, Move>, state: PlanState): Generator<Move> {
  const onNode = new Map<string, Set<Move>>();
  for (const move of pending.values()) {
    for (const { node } of move.pods) {
      const moves = onNode.get(node);
      if (moves === undefined) onNode.set(node, new Set([move]));
      else moves.add(move);
    }
  }
  const distance = ([, moves]: [string, Set<Move>]): number =>
    [...moves].reduce((sum, { pods }) => sum + pods.length, 0);
  const nearest = [...onNode]
    .map((entry) => ({ name: entry[0], moves: entry[1], distance: distance(entry) }))
    .sort(
      (a, b) =>
        a.distance - b.distance || state.remaining(a.name) - state.remaining(b.name) || compareText(a.name, b.name),
    );
  const seen = new Set<Move>();
  for (const { moves } of nearest) {
    for (const move of inOrder(moves)) {
      if (!seen.has(move)) yield move;
      seen.add(move);
    }
  }
}

/** The pods that go now, placed; all of them, or as many as the unit can spare and room and budgets allow. */
function choosePods(
  { pods, spare, unit }: Move,
  state: PlanState,
  { account, budgets }: { account: Account; budgets: ReadonlyMap<string, PlanBudget> },
): readonly PlanPod[] {
  if (spare === 0 && new Account(budgets).take(unit, pods)) {
    const placed = state.room.place(pods);
    if (placed === undefined) return [];
    if (account.take(unit, pods)) return pods;
    state.room.release(pods, placed);
    return [];
  }
  const nearest = [...pods].sort(
    (a, b) => state.remaining(a.node) - state.remaining(b.node) || compareText(a.id, b.id),
  );
  const chosen: PlanPod[] = [];
  for (const pod of nearest) {
    if (spare > 0 && chosen.length >= spare) break;
    if (state.room.fits(pod) && account.take(unit, [pod])) {
      state.room.place([pod]);
      chosen.push(pod);
    }
  }
  return chosen;
}

export function evictionOf({ unit }: Pick<Move, 'unit'>, pods: readonly PlanPod[]): UnitEviction {
  return { unit: unit.id, pods: pods.map(({ id }) => id), disrupts: goesDown(unit, pods.length) };
}

/** Empties the node with the fewest pods left, if what is on it fits elsewhere within the budgets. */
function emptyOneNode(
  pending: ReadonlyMap<string, Move>,
  state: PlanState,
  budgets: ReadonlyMap<string, PlanBudget>,
): UnitEviction[] {
  const nodes = new Set([...pending.values()].flatMap(({ pods }) => pods.map(({ node }) => node)));
  const byFewest = [...nodes].sort((a, b) => state.remaining(a) - state.remaining(b) || compareText(a, b));
  for (const node of byFewest) {
    const parts = [...pending.values()]
      .map((move) => ({ move, pods: move.pods.filter((pod) => pod.node === node) }))
      .filter(({ pods }) => pods.length > 0);
    const account = new Account(budgets);
    const affordable = parts.every(({ move, pods }) => account.take(move.unit, pods));
    const all = parts.flatMap(({ pods }) => pods);
    if (!affordable || all.length < state.remaining(node) || state.room.place(all) === undefined) continue;
    return parts.map(({ move, pods }) => evictionOf(move, pods));
  }
  return [];
}

export function takeOff(pending: Map<string, Move>, evictions: readonly UnitEviction[]): void {
  for (const { unit, pods } of evictions) {
    const move = pending.get(unit) as Move;
    const gone = new Set(pods);
    const left = move.pods.filter(({ id }) => !gone.has(id));
    if (left.length === 0) pending.delete(unit);
    else pending.set(unit, { ...move, pods: left });
  }
}
