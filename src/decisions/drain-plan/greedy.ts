import { type Answer, type Cluster, fitsGroup } from '../placement/index.ts';
import { Account } from './account.ts';
import { exchangeRoom } from './exchange.ts';
import type { PlanBudget, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import { compareRank, type Move } from './moves.ts';
import { compareText, type Moved, type Room } from './room.ts';
import { PlanState } from './state.ts';
import { evictionOf } from './step-eviction.ts';

export interface GreedyPlan {
  readonly steps: readonly PlanStep[];
  /** What found no room, and why. */
  readonly left: readonly LeftBehind[];
}

export interface LeftBehind extends Move {
  /** Undefined when it would fit by now, but no order of steps gets it there. */
  readonly answer: Answer | undefined;
}

export interface GreedyOptions {
  /** Where nothing can go for want of room, a node is emptied piecemeal; otherwise that is the end of the plan. */
  readonly piecemeal: boolean;
  /** Where nothing can go for want of room, units may go into each other's. */
  readonly exchange?: ExchangeOptions | undefined;
}

export interface ExchangeOptions {
  /** Steps that are decided, before the first exchange. */
  readonly after: readonly PlanStep[];
  /** At least one of these takes part in the first. */
  readonly wanted: ReadonlySet<string>;
}

/** Asks, when all else has moved, what keeps the rest where it is. */
export function explainLeft(moves: readonly Move[], room: Room, cluster: Cluster): LeftBehind[] {
  return moves.map((move) => {
    const answer = room.ask(move, (ask) => fitsGroup(ask, cluster));
    return { ...move, answer: answer.fits === 'Yes' ? undefined : answer };
  });
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
  { exchange, piecemeal }: GreedyOptions,
): GreedyPlan {
  const podById = new Map(question.pods.map((pod) => [pod.id, pod]));
  const pending = new Map(moves.map((move) => [move.unit.id, move]));
  const state = new PlanState(question);
  const steps: PlanStep[] = [];
  const done = state.takeEmpty();
  if (done.length > 0) steps.push({ evictions: [], completes: done });
  const take = (evictions: readonly UnitEviction[], how: Pick<PlanStep, 'exchange'> = {}): void => {
    takeOff(pending, evictions);
    steps.push({ evictions, completes: state.settle(evictions, podById), ...how });
  };
  const tryExchange = (wanted: ReadonlySet<string>): boolean => {
    const evictions = exchangeRoom(pending.values(), { budgets, room: state.room, wanted });
    if (evictions.length > 0) take(evictions, { exchange: true });
    return evictions.length > 0;
  };
  if (exchange !== undefined) {
    for (const step of exchange.after) if (repeatStep(step, pending, state)) take(step.evictions, markOf(step));
    tryExchange(exchange.wanted);
  }
  while (pending.size > 0) {
    let evictions = fillStep(pending, state, { budgets, nodesReturn: question.nodesReturn });
    if (evictions.length === 0 && exchange !== undefined && tryExchange(new Set(pending.keys()))) continue;
    if (evictions.length === 0 && question.nodesReturn && piecemeal) evictions = emptyOneNode(pending, state, budgets);
    if (evictions.length === 0) break;
    take(evictions);
  }
  // Where another way is tried next, nobody reads why this one ended.
  const unexplained = question.nodesReturn && !piecemeal;
  const rest = [...pending.values()];
  const left = unexplained
    ? rest.map((move) => ({ ...move, answer: undefined }))
    : explainLeft(rest, state.room, question.cluster);
  state.room.rollback();
  return { steps, left };
}

const markOf = ({ exchange }: PlanStep): Pick<PlanStep, 'exchange'> => (exchange === undefined ? {} : { exchange });

/** Does what a plan has decided already; answers whether it held, else nothing is changed. */
function repeatStep({ evictions }: PlanStep, pending: ReadonlyMap<string, Move>, { room }: PlanState): boolean {
  const mark = room.mark();
  const held = evictions.every(({ pods: ids, unit: id, where }) => {
    const move = pending.get(id);
    if (move === undefined) return false;
    const going = new Set(ids);
    const pods = move.pods.filter((pod) => going.has(pod.id));
    // A plan names pods as they are listed, the room by their UID.
    const places = pods.flatMap(({ facts, id: pod }) =>
      where[pod] === undefined ? [] : [[facts.uid, where[pod]] as const],
    );
    return room.put({ unit: move.unit, pods }, new Map([...Object.entries(where), ...places])) !== undefined;
  });
  if (!held) room.rollback(mark);
  return held && evictions.length > 0;
}

/** One step. Where nodes do not come back, order cannot matter for room, so every unit that may go does. */
function fillStep(
  pending: ReadonlyMap<string, Move>,
  state: PlanState,
  { budgets, nodesReturn }: { budgets: ReadonlyMap<string, PlanBudget>; nodesReturn: boolean },
): UnitEviction[] {
  const account = new Account(budgets);
  const evictions = new Map<string, UnitEviction>();
  for (const move of nodesReturn ? withRoomAhead(pending, state) : inOrder(pending.values())) {
    if (evictions.has(move.unit.id)) continue;
    const chosen = choosePods(move, state, { account, budgets });
    if (chosen !== undefined) evictions.set(move.unit.id, chosen);
  }
  return [...evictions.values()];
}

/**
 * The moves that fit one after the other, also those that must wait for another step, so that room is kept for them.
 * Where one does not, the node in focus cannot be emptied any more: what lies behind it must not eat the room it
 * waits for.
 */
function withRoomAhead(pending: ReadonlyMap<string, Move>, state: PlanState): Move[] {
  return state.room.trial(() => {
    const fitting: Move[] = [];
    for (const move of byNearestNode(pending, state)) {
      if (state.room.move(move) === undefined) break;
      fitting.push(move);
    }
    return fitting;
  });
}

/** Larger units first: they are the harder ones to place. Of equal ones those that cost less. */
function inOrder(moves: Iterable<Move>): Move[] {
  return [...moves].sort((a, b) => b.pods.length - a.pods.length || compareRank(a, b));
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

/** What goes now, placed: all pods, or as many as the unit can spare and room and budgets allow. */
function choosePods(
  move: Move,
  state: PlanState,
  { account, budgets }: { account: Account; budgets: ReadonlyMap<string, PlanBudget> },
): UnitEviction | undefined {
  const { pods, spare, unit } = move;
  const { room } = state;
  if (spare === 0 && new Account(budgets).take(unit, pods)) {
    const mark = room.mark();
    const moved = room.move(move);
    if (moved === undefined) return undefined;
    if (account.take(unit, pods)) return evictionOf(move, pods, [moved]);
    room.rollback(mark);
    return undefined;
  }
  const nearest = [...pods].sort(
    (a, b) => state.remaining(a.node) - state.remaining(b.node) || compareText(a.id, b.id),
  );
  const chosen: PlanPod[] = [];
  const places: Moved[] = [];
  for (const pod of nearest) {
    if (spare > 0 && chosen.length >= spare) break;
    const mark = room.mark();
    const moved = room.move({ unit, pods: [pod] });
    if (moved === undefined) continue;
    if (account.take(unit, [pod])) {
      chosen.push(pod);
      places.push(moved);
    } else room.rollback(mark);
  }
  return chosen.length === 0 ? undefined : evictionOf(move, chosen, places);
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
    const all = parts.reduce((sum, { pods }) => sum + pods.length, 0);
    if (!affordable || all < state.remaining(node)) continue;
    const moved = state.room.moveAll(parts.map(({ move, pods }) => ({ unit: move.unit, pods })));
    if (moved === undefined) continue;
    return parts.map(({ move, pods }, at) => evictionOf(move, pods, moved.slice(at, at + 1)));
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
