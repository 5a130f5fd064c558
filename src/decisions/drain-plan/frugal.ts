import { Account } from './account.ts';
import { evictionOf, explainLeft, type GreedyPlan, takeOff } from './greedy.ts';
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
      const parts = chooseParts(node, state.room);
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
  readonly #names: string[];
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
    this.#names = [...this.#onNode]
      .filter(([name, pods]) => pods.length === state.remaining(name))
      .map(([name]) => name);
  }

  /** Those with the fewest pods first. */
  *nearest(): Generator<NodeParts> {
    const names = this.#names
      .map((name) => ({ name, left: this.#state.remaining(name) }))
      .filter(({ left }) => left > 0)
      .sort((a, b) => a.left - b.left || compareText(a.name, b.name));
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

/** What goes to empty a node: its pods, and as many other pods of their units as leave room for the next node. */
function chooseParts({ here, node, reserve }: NodeParts, room: Room): readonly Part[] | undefined {
  return room.trial(() => {
    if (room.moveAll(asParts(here)) === undefined) return undefined;
    const taken = new Set(here.flatMap(({ pods }) => pods));
    const ahead = reserve
      .map(({ move, pods }) => ({ move, pods: pods.filter((pod) => !taken.has(pod)) }))
      .filter(({ pods }) => pods.length > 0);
    if (room.moveAll(asParts(ahead)) === undefined) return here;
    const fewestOthers = [...here].sort(
      (a, b) => a.move.pods.length - b.move.pods.length || compareText(a.move.unit.id, b.move.unit.id),
    );
    return fewestOthers.map(({ move, pods }) => {
      if (move.spare > 0) return { move, pods };
      const others = move.pods.filter((pod) => pod.node !== node);
      const fits = others.length === 0 || room.move({ unit: move.unit, pods: others }) !== undefined;
      return fits ? { move, pods: move.pods } : { move, pods };
    });
  });
}

/** Collects the parts of several nodes into one step. */
function openBatch(budgets: Budgets) {
  let account = new Account(budgets);
  const taken = new Map<Move, { readonly pods: readonly PlanPod[]; readonly moved: readonly Moved[] }>();
  return {
    /** Adds the parts of a node if budgets and room take all of them. */
    add(parts: readonly Part[], room: Room): boolean {
      const next = account.copy();
      const fresh = parts
        .map(({ move, pods }) => ({ move, pods: pods.filter((pod) => !taken.get(move)?.pods.includes(pod)) }))
        .filter(({ pods }) => pods.length > 0);
      for (const { move, pods } of fresh) {
        const count = pods.length + (taken.get(move)?.pods.length ?? 0);
        if ((move.spare > 0 && count > move.spare) || !next.take(move.unit, pods)) return false;
      }
      const moved = room.moveAll(asParts(fresh));
      if (moved === undefined) return false;
      account = next;
      for (const [at, { move, pods }] of fresh.entries()) {
        const known = taken.get(move);
        taken.set(move, {
          pods: [...(known?.pods ?? []), ...pods],
          moved: [...(known?.moved ?? []), ...moved.slice(at, at + 1)],
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
    const steps: { account: Account; evictions: Map<string, { move: Move; pods: PlanPod[] }> }[] = [];
    for (const { move, pods } of parts) {
      for (const part of partsOf(move, pods, budgets)) {
        let step = steps.find(({ account, evictions }) => {
          if (evictions.has(move.unit.id) && (evictions.get(move.unit.id)?.pods.length ?? 0) >= move.spare)
            return false;
          return account.take(move.unit, part);
        });
        if (step === undefined) {
          step = { account: new Account(budgets), evictions: new Map() };
          step.account.take(move.unit, part);
          steps.push(step);
        }
        const known = step.evictions.get(move.unit.id);
        step.evictions.set(move.unit.id, { move, pods: [...(known?.pods ?? []), ...part] });
      }
    }
    const placed = placeSteps(steps, state.room);
    if (placed !== undefined) return placed;
  }
  return [];
}

function placeSteps(
  steps: readonly { readonly evictions: ReadonlyMap<string, Part> }[],
  room: Room,
): UnitEviction[][] | undefined {
  const mark = room.mark();
  const placed: UnitEviction[][] = [];
  for (const { evictions } of steps) {
    const parts = [...evictions.values()];
    const moved = room.moveAll(asParts(parts));
    if (moved === undefined) {
      room.rollback(mark);
      return undefined;
    }
    room.endStep();
    placed.push(parts.map(({ move, pods }, at) => evictionOf(move, pods, moved.slice(at, at + 1))));
  }
  return placed;
}
