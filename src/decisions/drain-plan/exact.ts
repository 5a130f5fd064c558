import { batch, type BatchStep, type SerialMove } from './batch.ts';
import { explainLeft, type GreedyPlan } from './greedy.ts';
import { evictionOf } from './step-eviction.ts';
import type { PlanBudget, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import { countUnavoidable, isCharged, type Move } from './moves.ts';
import type { Parcel } from './packing.ts';
import { PlanState } from './state.ts';
import { SearchRoom } from './search-room.ts';
import { gatherSpots, partsOf, type Spot } from './spots.ts';
import { chooseLast } from './last-moves.ts';

/** A larger fleet is not searched. */
const MAX_PODS = 48;
const MAX_BITS = 30;
/** A search that has looked at this many states is given up, and so is one whose room is spent. */
const MAX_STATES = 20_000;

interface State {
  /** A bit for each spot whose pods are still to go. */
  readonly left: number;
  readonly parcels: readonly Parcel[];
  readonly disruptions: number;
  readonly before: State | undefined;
  readonly moves: readonly SerialMove[];
}

/**
 * Searches for the best plan among all. It goes from one node that is emptied to the next, because what does not help
 * to empty the next node can as well wait until after it: room only grows. For the same reason pods of a unit on one
 * node go together, as far as budgets let them. On the way to an empty node each unit with pods there goes with any of its other nodes' pods too.
 * States with the least sure cost come first, so the first from which everything else fits at once is best. Pods are
 * not given a node: it is enough that all that have moved fit on nodes that were open to them. Undefined when the fleet
 * is too large to look at everything.
 */
export function searchPlan(
  question: PlanQuestion,
  moves: readonly Move[],
  budgets: ReadonlyMap<string, PlanBudget>,
): GreedyPlan | undefined {
  const pods = moves.reduce((sum, move) => sum + move.pods.length, 0);
  const spots = gatherSpots(moves, budgets);
  if (pods > MAX_PODS || spots.length > MAX_BITS || question.nodes.length > MAX_BITS) return undefined;
  return new Search({ question, moves, spots, budgets }).run();
}

interface SearchInput {
  readonly question: PlanQuestion;
  readonly moves: readonly Move[];
  readonly spots: readonly Spot[];
  readonly budgets: ReadonlyMap<string, PlanBudget>;
}

class Search {
  readonly #input: SearchInput;
  readonly #room: SearchRoom;
  readonly #nodes: readonly { readonly name: string; readonly mask: number }[];
  readonly #unitMasks: readonly number[];
  readonly #queue: State[][] = [];
  readonly #seen = new Set<string>();
  readonly #bounds = new Map<number, number>();

  constructor(input: SearchInput) {
    const { moves, question, spots } = input;
    this.#input = input;
    this.#room = new SearchRoom(question, moves, spots);
    const maskOf = (test: (spot: Spot) => boolean): number =>
      spots.reduce((mask, spot, index) => (test(spot) ? mask | (1 << index) : mask), 0);
    this.#unitMasks = moves.map((_, unit) => maskOf((spot) => spot.unit === unit));
    const movable = new Set(moves.flatMap(({ pods }) => pods.map(({ id }) => id)));
    const held = new Set(question.pods.filter(({ id }) => !movable.has(id)).map(({ node }) => node));
    this.#nodes = question.nodes
      .filter(({ drain, name }) => question.nodesReturn && drain && !held.has(name))
      .map(({ name }) => ({ name, mask: maskOf(({ node }) => node === name) }));
  }

  run(): GreedyPlan | undefined {
    const popped: State[] = [];
    const all = (1 << this.#input.spots.length) - 1;
    this.#push({ left: all, parcels: [], disruptions: 0, before: undefined, moves: [] });
    while (popped.length < MAX_STATES) {
      const state = this.#pop();
      if (this.#room.isSpent) return undefined;
      if (state === undefined) return this.#bestOf(popped);
      const key = this.#room.keyOf(state);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      popped.push(state);
      const open = this.#room.openNodes(state.left);
      if (this.#room.fits([...state.parcels, ...this.#lastParcels(state, this.#podsOf(state.left), open)], open)) {
        return this.#build(state, this.#podsOf(state.left));
      }
      for (const next of this.#next(state, open)) this.#push(next);
    }
    return undefined;
  }

  /** Not everything can go: of the states reached, the one from which the most can. */
  #bestOf(states: readonly State[]): GreedyPlan | undefined {
    let best: { state: State; pods: readonly PlanPod[]; left: number; cost: number } | undefined;
    for (const state of states) {
      const open = this.#room.openNodes(state.left);
      const most = this.#room.most(state.parcels.length, open);
      const least = Math.max(0, this.#podsOf(state.left).length - most);
      if (best !== undefined && (least > best.left || (least === best.left && state.disruptions >= best.cost)))
        continue;
      const last = chooseLast({
        moves: this.#input.moves,
        leftOf: (unit) => this.#podsOf(state.left & (this.#unitMasks[unit] ?? 0)),
        costOf: (move, pods) => this.#costOf(move, pods),
        fits: (pods) => this.#room.fits([...state.parcels, ...this.#lastParcels(state, pods, open)], open),
      });
      if (last === undefined) continue;
      const left = this.#podsOf(state.left).length - last.pods.length;
      const cost = state.disruptions + last.cost;
      if (best === undefined || left < best.left || (left === best.left && cost < best.cost)) {
        best = { state, pods: last.pods, left, cost };
      }
    }
    return best === undefined || this.#room.isSpent ? undefined : this.#build(best.state, best.pods);
  }

  /** Every way to empty one more node. */
  *#next(state: State, open: number): Generator<State> {
    for (const { mask } of this.#nodes) {
      const here = state.left & mask;
      if (here === 0) continue;
      const units = this.#input.moves.flatMap((move, unit) =>
        here & (this.#unitMasks[unit] ?? 0) ? [{ move, masks: this.#choices(state.left, here, unit) }] : [],
      );
      let ways: { going: number; parcels: readonly Parcel[]; cost: number; moves: readonly SerialMove[] }[] = [
        { going: 0, parcels: state.parcels, cost: 0, moves: [] },
      ];
      for (const { masks, move } of units) {
        ways = ways.flatMap((way) =>
          masks.flatMap((going) => {
            const parcels = [
              ...way.parcels,
              ...this.#parcels(this.#podsOf(going), move, { open, turn: turnOf(way.parcels) }),
            ];
            if (!this.#room.fits(parcels, open)) return [];
            const pods = this.#podsOf(going);
            const cost = way.cost + this.#costOf(move, pods);
            return [{ going: way.going | going, parcels, cost, moves: [...way.moves, { move, pods }] }];
          }),
        );
      }
      for (const { cost, going, moves, parcels } of ways) {
        yield { left: state.left & ~going, parcels, disruptions: state.disruptions + cost, before: state, moves };
      }
    }
  }

  /** What of a unit may go while one of its nodes is emptied: its pods there, with any of its other spots. */
  #choices(left: number, here: number, unit: number): number[] {
    const own = this.#unitMasks[unit] ?? 0;
    const must = here & own;
    if ((this.#input.moves[unit]?.spare ?? 0) > 0) return [must];
    const others = left & own & ~must;
    const choices: number[] = [];
    for (let part = others; ; part = (part - 1) & others) {
      choices.push(must | part);
      if (part === 0) return choices;
    }
  }

  #costOf(move: Move, pods: readonly PlanPod[]): number {
    return isCharged(move) ? partsOf(move, pods, this.#input.budgets).length : 0;
  }

  #podsOf(mask: number): PlanPod[] {
    return this.#input.spots.flatMap(({ pods }, index) => (mask & (1 << index) ? pods : []));
  }

  /** Pods that go one by one have a turn each: those that still stand bind them to a label's value. */
  #parcels(pods: readonly PlanPod[], move: Move, { open, turn }: { open: number; turn: number }): Parcel[] {
    const apart = move.spare > 0 && move.unit.topology !== undefined;
    return pods.map((pod, at) => ({ pod, open, move, turn: apart ? turn + at : turn }));
  }

  /** What goes at the end, unit by unit. */
  #lastParcels(state: State, pods: readonly PlanPod[], open: number): Parcel[] {
    const going = new Set(pods);
    const parcels: Parcel[] = [];
    for (const move of this.#input.moves) {
      const own = move.pods.filter((pod) => going.has(pod));
      const turn = turnOf(parcels.length > 0 ? parcels : state.parcels);
      parcels.push(...this.#parcels(own, move, { open, turn }));
    }
    return parcels;
  }

  #push(state: State): void {
    const cost = this.#unitMasks.reduce(
      (sum, mask, unit) => sum + this.#boundOf(state.left & mask, unit),
      state.disruptions,
    );
    (this.#queue[cost] ??= []).push(state);
  }

  #boundOf(mask: number, unit: number): number {
    if (mask === 0) return 0;
    const known = this.#bounds.get(mask);
    if (known !== undefined) return known;
    const move = { ...(this.#input.moves[unit] as Move), pods: this.#podsOf(mask) };
    const bound = countUnavoidable(move, this.#input.budgets);
    this.#bounds.set(mask, bound);
    return bound;
  }

  #pop(): State | undefined {
    return this.#queue.find((states) => states !== undefined && states.length > 0)?.pop();
  }

  #build(state: State, last: readonly PlanPod[]): GreedyPlan | undefined {
    const { budgets, moves, question } = this.#input;
    const serial: SerialMove[] = [];
    for (let at: State | undefined = state; at !== undefined; at = at.before) serial.unshift(...at.moves);
    const going = new Set(last.map(({ id }) => id));
    for (const move of moves) serial.push({ move, pods: move.pods.filter(({ id }) => going.has(id)) });
    const parts = serial.flatMap(({ move, pods }) =>
      partsOf(move, pods, budgets).map((part) => ({ move, pods: part })),
    );
    const gone = new Set(parts.flatMap(({ pods }) => pods.map(({ id }) => id)));
    const left = moves
      .map((move) => ({ ...move, pods: move.pods.filter(({ id }) => !gone.has(id)) }))
      .filter(({ pods }) => pods.length > 0);
    const steps = batch(question, parts, { budgets, fits: (parcels) => this.#room.packs(parcels) });
    // Members that must share a label may fit elsewhere together and not one after the other.
    return steps && placeSteps({ question, steps, left, room: this.#room });
  }
}

const turnOf = (parcels: readonly Parcel[]): number => (parcels[parcels.length - 1]?.turn ?? -1) + 1;

interface FoundSteps {
  readonly question: PlanQuestion;
  readonly steps: readonly BatchStep[];
  readonly left: readonly Move[];
  readonly room: SearchRoom;
}

/**
 * Gives every pod of a plan its place. Undefined where a scheduler that does not search might not find one: the search
 * has looked for any way.
 */
function placeSteps({ left, question, room, steps }: FoundSteps): GreedyPlan | undefined {
  const state = new PlanState(question);
  const nodeOf = new Map(question.pods.map((pod) => [pod.id, pod]));
  const opened = new Set<string>();
  const parcels: Parcel[] = [];
  for (const [turn, { completes, parts }] of steps.entries()) {
    const open = question.nodes.reduce(
      (mask, { drain, name }, at) => (!drain || opened.has(name) ? mask | (1 << at) : mask),
      0,
    );
    for (const [at, { move, pods }] of parts.entries()) {
      for (const pod of pods) parcels.push({ pod, open, move, turn: turn * parts.length + at });
    }
    if (question.nodesReturn) for (const name of completes) opened.add(name);
  }
  const where = room.pack(parcels) ?? new Map<string, string>();
  const done = state.takeEmpty();
  const made: PlanStep[] = done.length > 0 ? [{ evictions: [], completes: done }] : [];
  for (const { parts } of steps) {
    if (parts.length === 0) continue;
    const evictions: UnitEviction[] = [];
    for (const { move, pods } of parts) {
      const moved = state.room.put({ unit: move.unit, pods }, where);
      if (moved === undefined) {
        state.room.rollback();
        return undefined;
      }
      evictions.push(evictionOf(move, pods, [moved]));
    }
    made.push({ evictions, completes: state.settle(evictions, nodeOf) });
  }
  const explained = explainLeft(left, state.room, question.cluster);
  state.room.rollback();
  return { steps: made, left: explained };
}
