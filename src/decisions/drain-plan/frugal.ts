import { Account } from './account.ts';
import { compareRank, evictionOf, explainLeft, type GreedyPlan, takeOff } from './greedy.ts';
import type { PlanBudget, PlanPod, PlanQuestion, PlanStep, UnitEviction } from './model.ts';
import type { Move } from './moves.ts';
import { compareText, type Moved, type Room } from './room.ts';
import { partsOf } from './spots.ts';
import { PlanState } from './state.ts';

type Budgets = ReadonlyMap<string, PlanBudget>;

interface Part {
  readonly move: Move;
  readonly pods: readonly PlanPod[];
}

/** A part with the places that a trial has found for it. */
interface PlacedPart extends Part {
  readonly moved: readonly Moved[];
}

/**
 * Plans a drain where room is scarce and nodes come back: node after node, the one with the fewest pods first. A unit
 * on it goes whole, with its pods elsewhere, as long as enough room is left to empty the next node as well; otherwise
 * only its pods on this node go, and it will go down again. What goes early from other nodes is room that comes back
 * when those are emptied, so this never runs dry while there was room for one node at the start.
 */
export function planFrugally(question: PlanQuestion, moves: readonly Move[], budgets: Budgets): GreedyPlan {
  const pending = new Map(moves.map((move) => [move.unit.id, move]));
  const podById = new Map(question.pods.map((pod) => [pod.id, pod]));
  const state = new PlanState(question);
  const order = new NodeOrder(moves, pending, { cluster: question.cluster, state });
  const done = state.takeEmpty();
  const steps: PlanStep[] = done.length > 0 ? [{ evictions: [], completes: done }] : [];
  const close = (evictions: readonly UnitEviction[]): void => {
    takeOff(pending, evictions);
    steps.push({ evictions, completes: state.settle(evictions, podById) });
  };
  while (pending.size > 0) {
    const batch = openBatch(budgets);
    for (const node of order.nearest()) {
      // What budgets do not take anyway needs no place.
      if (!batch.affords(node.here)) break;
      const parts = chooseParts(node, state.room, batch.gone);
      if (parts === undefined || !batch.add(parts, state.room)) break;
    }
    const evictions = batch.evictions();
    if (evictions.length > 0) {
      close(evictions);
      continue;
    }
    // Budgets do not let any node go in one step: the first that has room goes in several.
    const slow = emptySlowly(order, state, budgets);
    if (slow.length === 0) break;
    for (const step of slow) close(step);
  }
  const left = explainLeft([...pending.values()], state.room, question.cluster);
  state.room.rollback();
  return { steps, left };
}

interface NodeParts {
  readonly node: string;
  /** The units with pods on it, and those pods. */
  readonly here: readonly Part[];
  /** The same for the node that comes after it. */
  readonly reserve: readonly Part[];
}

/** The nodes that can be emptied, and what is on them. */
class NodeOrder {
  readonly #state: PlanState;
  readonly #pending: ReadonlyMap<string, Move>;
  readonly #onNode = new Map<string, PlanPod[]>();
  #nodes: { readonly name: string; left: number }[];
  readonly #zoneOf: (node: string) => string | undefined;
  readonly #zones: number;

  constructor(
    moves: readonly Move[],
    pending: ReadonlyMap<string, Move>,
    { cluster, state }: { cluster: PlanQuestion['cluster']; state: PlanState },
  ) {
    this.#state = state;
    this.#zoneOf = (name) => cluster.node(name)?.zone;
    this.#zones = new Set(cluster.nodes.map(({ zone }) => zone)).size;
    this.#pending = pending;
    for (const { pods } of moves) {
      for (const pod of pods) {
        const list = this.#onNode.get(pod.node);
        if (list === undefined) this.#onNode.set(pod.node, [pod]);
        else list.push(pod);
      }
    }
    // A node with a pod that budgets never let go cannot be emptied.
    this.#nodes = [...this.#onNode]
      .filter(([name, pods]) => pods.length === state.remaining(name))
      .map(([name, pods]) => ({ name, left: pods.length }))
      .sort((a, b) => compareText(a.name, b.name));
  }

  /** Those with the fewest pods first. */
  *nearest(): Generator<NodeParts> {
    for (const node of this.#nodes) node.left = this.#state.remaining(node.name);
    const names = this.#nodes.filter(({ left }) => left > 0);
    // Little has changed since the last time, and what is nearly sorted is sorted quickly.
    names.sort((a, b) => a.left - b.left || compareText(a.name, b.name));
    this.#nodes = names;
    for (const [at, { name }] of names.entries()) {
      yield { node: name, here: this.#parts(name), reserve: this.#next(names, at + 1) };
    }
  }

  /** The parts of the node that comes next, and of the next in every other zone: room in one is none in another. */
  #next(names: readonly { readonly name: string }[], from: number): Part[] {
    const seen = new Set<string | undefined>();
    const parts: Part[] = [];
    for (let at = from; at < names.length && seen.size < this.#zones; at += 1) {
      const { name = '' } = names[at] ?? {};
      const zone = this.#zoneOf(name);
      if (seen.has(zone)) continue;
      seen.add(zone);
      parts.push(...this.#parts(name));
    }
    return parts;
  }

  #parts(node: string): Part[] {
    const parts = new Map<Move, PlanPod[]>();
    for (const pod of this.#onNode.get(node) ?? []) {
      const move = this.#pending.get(pod.unit);
      if (move === undefined || !move.pods.includes(pod)) continue;
      const list = parts.get(move);
      if (list === undefined) parts.set(move, [pod]);
      else list.push(pod);
    }
    return [...parts].map(([move, pods]) => ({ move, pods }));
  }
}

const asParts = (parts: readonly Part[]) => parts.map(({ move, pods }) => ({ unit: move.unit, pods }));

/**
 * What goes to empty a node, and where: its pods, and as many other pods of their units as leave room for the next
 * nodes. The places are part of the answer: others could take the very room that is kept.
 */
function chooseParts(
  { here, node, reserve }: NodeParts,
  room: Room,
  gone: ReadonlySet<PlanPod> = new Set(),
): readonly PlacedPart[] | undefined {
  return room.trial(() => {
    const first = place(boundFirst(without(here, gone)), room);
    if (first === undefined) return undefined;
    const taken = new Set([...gone, ...here.flatMap(({ pods }) => pods)]);
    const ahead = place(boundFirst(without(reserve, taken)), room);
    if (ahead === undefined) return first;
    const kept = new Map<Move, PlacedPart[]>();
    for (const part of ahead) {
      kept.set(part.move, [...(kept.get(part.move) ?? []), part]);
      for (const pod of part.pods) taken.add(pod);
    }
    const fewestOthers = [...first].sort(
      (a, b) => a.move.pods.length - b.move.pods.length || compareRank(a.move, b.move),
    );
    return fewestOthers.map((part) => {
      const { move, moved } = part;
      if (move.spare > 0) return part;
      const others = move.pods.filter((pod) => pod.node !== node && !taken.has(pod));
      const rest = others.length === 0 ? [] : room.moveAll([{ unit: move.unit, pods: others }]);
      if (rest === undefined) return part;
      const before = (kept.get(move) ?? []).flatMap((one) => one.moved);
      return { move, pods: move.pods.filter((pod) => !gone.has(pod)), moved: [...moved, ...before, ...rest] };
    });
  });
}

function place(parts: readonly Part[], room: Room): PlacedPart[] | undefined {
  const moved = room.moveAll(asParts(parts));
  return moved && parts.map((part, at) => ({ ...part, moved: moved.slice(at, at + 1) }));
}

/** Units that must keep together first: they have the fewest places to choose from. */
function boundFirst(parts: readonly Part[]): Part[] {
  const isFree = ({ move }: Part): number => (move.unit.topology === undefined ? 1 : 0);
  return [...parts].sort((a, b) => isFree(a) - isFree(b));
}

function without(parts: readonly Part[], taken: ReadonlySet<PlanPod>): Part[] {
  return parts
    .map(({ move, pods }) => ({ move, pods: pods.filter((pod) => !taken.has(pod)) }))
    .filter(({ pods }) => pods.length > 0);
}

/** Puts parts where a trial has placed them, all or none. */
function repeatAll(parts: readonly PlacedPart[], room: Room): boolean {
  const mark = room.mark();
  for (const { move, moved, pods } of parts) {
    if (room.repeat({ unit: move.unit, pods }, moved)) continue;
    room.rollback(mark);
    return false;
  }
  return true;
}

/** Collects the parts of several nodes into one step. */
function openBatch(budgets: Budgets) {
  let account = new Account(budgets);
  const taken = new Map<Move, { readonly pods: readonly PlanPod[]; readonly moved: readonly Moved[] }>();
  const gone = new Set<PlanPod>();
  return {
    /** What the step has already. */
    gone,
    /** Whether budgets take these parts as well. */
    affords(parts: readonly Part[]): boolean {
      const next = account.copy();
      return without(parts, gone).every(({ move, pods }) => next.take(move.unit, pods));
    },
    /** Adds the parts of a node if budgets and room take all of them. */
    add(parts: readonly PlacedPart[], room: Room): boolean {
      const next = account.copy();
      for (const { move, pods } of parts) {
        const count = pods.length + (taken.get(move)?.pods.length ?? 0);
        if ((move.spare > 0 && count > move.spare) || !next.take(move.unit, pods)) return false;
      }
      if (!repeatAll(parts, room)) return false;
      account = next;
      for (const part of parts) {
        for (const pod of part.pods) gone.add(pod);
        const known = taken.get(part.move);
        taken.set(part.move, {
          pods: [...(known?.pods ?? []), ...part.pods],
          moved: [...(known?.moved ?? []), ...part.moved],
        });
      }
      return true;
    },
    evictions: (): UnitEviction[] => [...taken].map(([move, { moved, pods }]) => evictionOf(move, pods, moved)),
  };
}

/** Empties the first node that has room, in as many steps as budgets ask for. */
function emptySlowly(order: NodeOrder, state: PlanState, budgets: Budgets): UnitEviction[][] {
  for (const node of order.nearest()) {
    const parts = chooseParts(node, state.room);
    if (parts === undefined) continue;
    const steps: { account: Account; parts: Map<Move, PlacedPart> }[] = [];
    for (const { move, moved, pods } of parts) {
      const pieces = partsOf(move, pods, budgets);
      for (const piece of pieces) {
        let step = steps.find(({ account, parts: taken }) => {
          if (taken.has(move) && (taken.get(move)?.pods.length ?? 0) >= move.spare) return false;
          return account.take(move.unit, piece);
        });
        if (step === undefined) {
          step = { account: new Account(budgets), parts: new Map() };
          step.account.take(move.unit, piece);
          steps.push(step);
        }
        const known = step.parts.get(move);
        // The places that were found are those of all of it together.
        const places = pieces.length === 1 ? moved : [];
        step.parts.set(move, { move, pods: [...(known?.pods ?? []), ...piece], moved: places });
      }
    }
    const placed = placeSteps(
      steps.map((step) => [...step.parts.values()]),
      state.room,
    );
    if (placed !== undefined) return placed;
  }
  return [];
}

function placeSteps(steps: readonly (readonly PlacedPart[])[], room: Room): UnitEviction[][] | undefined {
  const mark = room.mark();
  const placed: UnitEviction[][] = [];
  for (const parts of steps) {
    const evictions: UnitEviction[] = [];
    for (const { move, moved: found, pods } of parts) {
      const part = { unit: move.unit, pods };
      const moved = (found.length > 0 ? room.repeat(part, found) : undefined) ?? room.moveAll([part]);
      if (moved === undefined) {
        room.rollback(mark);
        return undefined;
      }
      evictions.push(evictionOf(move, pods, moved));
    }
    room.endStep();
    placed.push(evictions);
  }
  return placed;
}
