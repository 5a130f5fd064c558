import type { BlockedUnit, DrainPlan, PlanBudget, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import { countUnavoidable, findBudgetBlock, gatherMoves, type Move } from './moves.ts';
import { compareText } from './room.ts';
import { PlanState } from './state.ts';

/**
 * Plans a drain in steps. Within a step everything is evicted at once; a step begins when what the last one took down
 * serves again, so each step has the whole allowance of every budget.
 *
 * In each step, where drained nodes come back, the units of the node that is cheapest to empty come first:
 *  1. a unit with spare members gives as many as it can spare, and does not go down
 *  2. a unit without goes whole, once, if each of its budgets has allowance left in this step
 *  3. either only if all its pods fit elsewhere
 * If nothing can go for want of room, the node with the fewest pods left is emptied piecemeal, which may take a unit
 * down that will go down again: the only case in which one does.
 */
export function planDrain(question: PlanQuestion): DrainPlan {
  const budgets = new Map(question.budgets.map((budget) => [budget.id, budget]));
  const podById = new Map(question.pods.map((pod) => [pod.id, pod]));
  const moves = gatherMoves(question);
  const blocked: BlockedUnit[] = [];
  const pending = new Map<string, Move>();
  for (const move of moves) {
    const block = findBudgetBlock(move, budgets);
    if (block === undefined) pending.set(move.unit.id, move);
    else blocked.push(block);
  }

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
  for (const { unit, pods } of pending.values()) {
    blocked.push({
      unit: unit.id,
      reason: 'NoRoom',
      budgets: [],
      nodes: [...new Set(pods.map(({ node }) => node))].sort(),
    });
  }
  return summarize(steps, { lowerBound: countUnavoidable(moves), blocked });
}

/** One step. Where nodes do not come back, order cannot matter for room, so every unit that may go does. */
function fillStep(
  pending: ReadonlyMap<string, Move>,
  state: PlanState,
  { budgets, nodesReturn }: { budgets: ReadonlyMap<string, PlanBudget>; nodesReturn: boolean },
): UnitEviction[] {
  const spent = new Map<string, number>();
  const evictions = new Map<string, UnitEviction>();
  // Holds also what must wait for another step, so that room is kept for it.
  const reserved = nodesReturn ? state.room.copy() : undefined;
  for (const move of nodesReturn ? byNearestNode(pending, state) : inOrder(pending.values())) {
    if (evictions.has(move.unit.id)) continue;
    // The node in focus cannot be emptied any more: what lies behind it must not eat the room it waits for.
    if (reserved !== undefined && reserved.place(move.pods) === undefined) break;
    const disrupts = move.spare === 0;
    if (disrupts && !hasAllowance(move, budgets, spent)) continue;
    const pods = choosePods(move, state);
    if (pods.length === 0) continue;
    if (disrupts) spend(move, spent);
    evictions.set(move.unit.id, { unit: move.unit.id, pods: pods.map(({ id }) => id), disrupts });
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

/** The pods that go now, placed; all of them, or as many as the unit can spare and room allows. */
function choosePods({ pods, spare }: Move, state: PlanState): readonly PlanPod[] {
  if (spare === 0) return state.room.place(pods) === undefined ? [] : pods;
  const nearest = [...pods].sort(
    (a, b) => state.remaining(a.node) - state.remaining(b.node) || compareText(a.id, b.id),
  );
  const chosen: PlanPod[] = [];
  for (const pod of nearest) {
    if (chosen.length >= spare) break;
    if (state.room.place([pod]) !== undefined) chosen.push(pod);
  }
  return chosen;
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
    const spent = new Map<string, number>();
    const affordable = parts.every(({ move, pods }) => {
      if (pods.length <= move.spare) return true;
      if (!hasAllowance(move, budgets, spent)) return false;
      spend(move, spent);
      return true;
    });
    const all = parts.flatMap(({ pods }) => pods);
    if (!affordable || all.length < state.remaining(node) || state.room.place(all) === undefined) continue;
    return parts.map(({ move, pods }) => ({
      unit: move.unit.id,
      pods: pods.map(({ id }) => id),
      disrupts: pods.length > move.spare,
    }));
  }
  return [];
}

function hasAllowance(
  { unit }: Move,
  budgets: ReadonlyMap<string, PlanBudget>,
  spent: ReadonlyMap<string, number>,
): boolean {
  return unit.budgets.every((id) => (spent.get(id) ?? 0) < (budgets.get(id)?.allowance ?? Number.POSITIVE_INFINITY));
}

function spend({ unit }: Move, spent: Map<string, number>): void {
  for (const id of unit.budgets) spent.set(id, (spent.get(id) ?? 0) + 1);
}

function takeOff(pending: Map<string, Move>, evictions: readonly UnitEviction[]): void {
  for (const { unit, pods } of evictions) {
    const move = pending.get(unit) as Move;
    const gone = new Set(pods);
    const left = move.pods.filter(({ id }) => !gone.has(id));
    if (left.length === 0) pending.delete(unit);
    else pending.set(unit, { ...move, pods: left });
  }
}

function summarize(
  steps: readonly PlanStep[],
  { lowerBound, blocked }: { lowerBound: number; blocked: readonly BlockedUnit[] },
): DrainPlan {
  const hits = new Map<string, number>();
  for (const { evictions } of steps) {
    for (const { unit, disrupts } of evictions) if (disrupts) hits.set(unit, (hits.get(unit) ?? 0) + 1);
  }
  return {
    steps,
    disruptions: [...hits.values()].reduce((sum, count) => sum + count, 0),
    lowerBound,
    hitAgain: [...hits.values()].filter((count) => count > 1).length,
    blocked,
  };
}
