import { explainLeft, type GreedyPlan, takeOff } from './greedy.ts';
import type { PlanBudget, PlanPod, PlanQuestion, PlanStep } from './model.ts';
import type { Move } from './moves.ts';
import { chooseParts, placeParts } from './choose-parts.ts';
import { type MovePart, NodeOrder, type OrderedNode, type PlacedPart } from './node-order.ts';
import { OpenStep } from './open-step.ts';
import { partsOf } from './spots.ts';
import { PlanState } from './state.ts';

type Budgets = ReadonlyMap<string, PlanBudget>;

/** So many nodes in a row that budgets do not take beside the others are looked at before a step is closed. */
const PATIENCE = 24;

/** The room that is kept for what is still to come of a node that goes in several steps. */
const CARRIED = 'carried';

const nextIn = (zone: string): string => `next in ${zone}`;

/**
 * Plans a drain where room is scarce and nodes come back: node after node, the one with the fewest pods first. In every
 * zone room for the next of its nodes is kept at all times, so that none runs dry: a node that is emptied gives back at
 * least what its pods take. A unit on a node goes whole, with its pods elsewhere, as long as that room is left;
 * otherwise only its pods on this node go, and it will go down again. What budgets do not let go in one step goes in
 * several, beside others.
 */
export function planFrugally(question: PlanQuestion, moves: readonly Move[], budgets: Budgets): GreedyPlan {
  const planner = new FrugalPlanner(question, moves, budgets);
  while (planner.step());
  return planner.end();
}

class FrugalPlanner {
  readonly #question: PlanQuestion;
  readonly #budgets: Budgets;
  readonly #pending: Map<string, Move>;
  readonly #podById: ReadonlyMap<string, PlanQuestion['pods'][number]>;
  readonly #state: PlanState;
  readonly #order: NodeOrder;
  readonly #steps: PlanStep[] = [];
  /** The node that room is kept for in each zone, with the pods that were on it then. */
  readonly #ahead = new Map<string, { readonly node: OrderedNode; readonly left: number }>();
  /** What is still to come of a node that goes in several steps. */
  #carried: (readonly PlacedPart[])[] = [];
  /** Nodes that had no room, how often, and when to look again: after so many have come back. */
  readonly #failures = new Map<string, { readonly times: number; readonly until: number }>();
  #returned = 0;

  constructor(question: PlanQuestion, moves: readonly Move[], budgets: Budgets) {
    this.#question = question;
    this.#budgets = budgets;
    this.#pending = new Map(moves.map((move) => [move.unit.id, move]));
    this.#podById = new Map(question.pods.map((pod) => [pod.id, pod]));
    this.#state = new PlanState(question);
    this.#order = new NodeOrder(moves, this.#pending, { cluster: question.cluster, state: this.#state });
    const done = this.#state.takeEmpty();
    if (done.length > 0) this.#steps.push({ evictions: [], completes: done });
  }

  /** Makes one more step; false when there is none to make. */
  step(): boolean {
    if (this.#pending.size === 0) return false;
    const { room } = this.#state;
    const nodes = this.#order.nearest;
    this.#keepAhead(nodes);
    const step = new OpenStep(this.#budgets, room);
    this.#takeCarried(step);
    this.#fill(step, nodes, { patience: PATIENCE, all: false });
    if (step.gone.size === 0) this.#fill(step, nodes, { patience: 1, all: true });
    if (step.gone.size === 0) {
      // Not even with the room that is kept for others: those may have to wait for what this gives back.
      for (const { zone } of nodes) room.release(nextIn(zone));
      this.#fill(step, nodes, { patience: 1, all: true });
    }
    const evictions = step.evictions();
    if (evictions.length === 0) return false;
    takeOff(this.#pending, evictions);
    const completes = this.#state.settle(evictions, this.#podById);
    this.#order.left(step.gone);
    this.#returned += completes.length;
    this.#steps.push({ evictions, completes });
    return true;
  }

  end(): GreedyPlan {
    const { room } = this.#state;
    const mark = room.mark();
    for (const { zone } of this.#order.nearest) room.release(nextIn(zone));
    const left = explainLeft([...this.#pending.values()], room, this.#question.cluster);
    room.rollback(mark);
    room.rollback();
    return { steps: this.#steps, left };
  }

  /** Keeps room for the next node of every zone; what was kept for another stays where that is not possible. */
  #keepAhead(nodes: readonly OrderedNode[]): void {
    const { room } = this.#state;
    const seen = new Set<string>();
    for (const node of nodes) {
      const { zone } = node;
      if (seen.has(zone)) continue;
      seen.add(zone);
      const known = this.#ahead.get(zone);
      if (room.keeps(nextIn(zone)) && known?.node === node && known.left === node.left) continue;
      const mark = room.mark();
      room.release(nextIn(zone));
      const placed = room.trial(() => placeParts(this.#order.partsOn(node), room));
      if (placed === undefined) {
        room.rollback(mark);
        continue;
      }
      room.keep(nextIn(zone), placesOf(placed));
      this.#ahead.set(zone, { node, left: node.left });
    }
  }

  /** Adds node after node to a step. Without `all`, nodes that had no room lately are passed over. */
  #fill(step: OpenStep, nodes: readonly OrderedNode[], { all, patience }: { all: boolean; patience: number }): void {
    let refused = 0;
    for (const [at, node] of nodes.entries()) {
      if (refused >= patience) break;
      if (!all && (this.#failures.get(node.name)?.until ?? 0) > this.#returned) continue;
      const here = this.#order.partsOn(node);
      if (here.every(({ pods }) => pods.every((pod) => step.gone.has(pod)))) continue;
      // What budgets do not take anyway needs no place.
      const slow = !new OpenStep(this.#budgets, this.#state.room).affords(here);
      if (slow ? this.#carried.length > 0 || step.choose(unplaced(here)).length === 0 : !step.affords(here)) {
        refused += 1;
        continue;
      }
      let after = at + 1;
      while (after < nodes.length && nodes[after]?.zone !== node.zone) after += 1;
      if (!this.#empty(step, node, { here, next: nodes[after], slow })) refused += 1;
      else if (all) break;
      else refused = 0;
    }
  }

  /** Empties a node in this step, or in this and those that follow where it is slow; false when that cannot be. */
  #empty(
    step: OpenStep,
    node: OrderedNode,
    { here, next, slow }: { here: readonly MovePart[]; next: OrderedNode | undefined; slow: boolean },
  ): boolean {
    const { room } = this.#state;
    const mark = room.mark();
    room.release(nextIn(node.zone));
    const ahead = next === undefined ? [] : this.#order.partsOn(next);
    const chosen = chooseParts({ node: node.name, here, next: ahead }, { room, gone: step.gone });
    if (chosen === undefined) {
      room.rollback(mark);
      const { times } = this.#failures.get(node.name) ?? { times: 0 };
      this.#failures.set(node.name, { times: times + 1, until: this.#returned + 2 ** times });
      return false;
    }
    const turns = slow ? this.#inTurns(chosen.parts, step) : [chosen.parts];
    const now = this.#placed(turns[0] ?? []);
    if (now === undefined || !step.add(now)) {
      room.rollback(mark);
      return false;
    }
    if (slow) this.#carry(turns.slice(1));
    this.#ahead.delete(node.zone);
    if (chosen.ahead !== undefined) room.keep(nextIn(node.zone), chosen.ahead);
    return true;
  }

  /** Parts of a node in as few steps as budgets ask for, the first beside what a step has already. */
  #inTurns(parts: readonly PlacedPart[], step: OpenStep): PlacedPart[][] {
    let rest = parts.flatMap((part) => {
      const pieces = partsOf(part.move, part.pods, this.#budgets);
      return pieces.length === 1 ? [part] : pieces.map((pods) => pieceOf(part, pods));
    });
    const turns: PlacedPart[][] = [];
    for (let turn = step; rest.length > 0; turn = new OpenStep(this.#budgets, this.#state.room)) {
      const taken = new Set(turn.choose(rest));
      if (taken.size === 0 && turn !== step) break;
      turns.push(mergeParts([...taken]));
      rest = rest.filter((part) => !taken.has(part));
    }
    return turns;
  }

  /** The next turn of a node that goes in several steps. */
  #takeCarried(step: OpenStep): void {
    const [turn, ...rest] = this.#carried;
    if (turn === undefined) return;
    this.#carry([]);
    const current = turn.flatMap((part) => {
      const move = this.#pending.get(part.move.unit.id);
      const pods = part.pods.filter((pod) => move?.pods.includes(pod));
      if (move === undefined || pods.length === 0) return [];
      return [{ move, pods, moved: pods.length === part.pods.length ? part.moved : [] }];
    });
    const now = this.#placed(current);
    if (now !== undefined && step.add(now)) this.#carry(rest);
  }

  #carry(turns: (readonly PlacedPart[])[]): void {
    const { room } = this.#state;
    room.release(CARRIED);
    if (turns.length > 0) room.keep(CARRIED, placesOf(turns.flat()));
    this.#carried = turns;
  }

  /** Finds places for those parts that have none yet; undefined where there are none. */
  #placed(parts: readonly PlacedPart[]): readonly PlacedPart[] | undefined {
    const { room } = this.#state;
    if (parts.every(({ moved }) => moved.length > 0)) return parts;
    return room.trial(() => {
      const placed: PlacedPart[] = [];
      for (const part of parts) {
        const asked = { unit: part.move.unit, pods: part.pods };
        const moved = (part.moved.length > 0 ? room.repeat(asked, part.moved) : undefined) ?? room.moveAll([asked]);
        if (moved === undefined) return undefined;
        placed.push({ ...part, moved });
      }
      return placed;
    });
  }
}

const unplaced = (parts: readonly MovePart[]): PlacedPart[] => parts.map((part) => ({ ...part, moved: [] }));

const placesOf = (parts: readonly PlacedPart[]) => parts.flatMap(({ moved }) => moved.flatMap(({ where }) => where));

/**
 * Some pods of a part with their places. What restarts as one asks for all its places at the first of them, and those
 * that must share a label ask again: the places were found for all at once, and as long as some stand, they bind the rest.
 */
function pieceOf({ move, moved }: PlacedPart, pods: readonly PlanPod[]): PlacedPart {
  if (move.unit.wholesale || move.unit.topology !== undefined) return { move, pods, moved: [] };
  const uids = new Set(pods.map(({ facts }) => facts.uid));
  const places = moved.map((one) => ({ ...one, where: one.where.filter(({ pod }) => uids.has(pod.uid)) }));
  return { move, pods, moved: places.filter(({ where }) => where.length > 0) };
}

/** Pieces of one unit that go in one step are one part. */
function mergeParts(pieces: readonly PlacedPart[]): PlacedPart[] {
  const parts = new Map<Move, PlacedPart>();
  for (const piece of pieces) {
    const { move, moved, pods } = parts.get(piece.move) ?? { move: piece.move, pods: [], moved: [] };
    parts.set(move, { move, pods: [...pods, ...piece.pods], moved: [...moved, ...piece.moved] });
  }
  return [...parts.values()];
}
