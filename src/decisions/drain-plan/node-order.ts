import type { PlanPod, PlanQuestion } from './model.ts';
import type { Move } from './moves.ts';
import { compareText, type Moved } from './room.ts';
import type { PlanState } from './state.ts';

/** Pods of a unit that go together. */
export interface MovePart {
  readonly move: Move;
  readonly pods: readonly PlanPod[];
}

/** A part with the places that a trial has found for it. */
export interface PlacedPart extends MovePart {
  readonly moved: readonly Moved[];
}

/** A node that can be emptied. */
export interface OrderedNode {
  readonly name: string;
  /** Nodes of one zone have room that is of use to each other. */
  readonly zone: string;
  /** Pods that are still on it. */
  readonly left: number;
}

/** The nodes that can be emptied, and what is on them. */
export class NodeOrder {
  readonly #state: PlanState;
  readonly #pending: ReadonlyMap<string, Move>;
  readonly #onNode = new Map<string, PlanPod[]>();
  #nodes: (OrderedNode & { left: number })[];
  readonly #byName: ReadonlyMap<string, OrderedNode & { left: number }>;

  constructor(
    moves: readonly Move[],
    pending: ReadonlyMap<string, Move>,
    { cluster, state }: { cluster: PlanQuestion['cluster']; state: PlanState },
  ) {
    this.#state = state;
    this.#pending = pending;
    for (const { pods } of moves) {
      for (const pod of pods) {
        const list = this.#onNode.get(pod.node);
        if (list === undefined) this.#onNode.set(pod.node, [pod]);
        else list.push(pod);
      }
    }
    // Where no unit must keep together, room anywhere is room for all.
    const bound = moves.some(({ unit }) => unit.topology?.some(({ mode }) => mode === 'Required') === true);
    const zoneOf = (name: string): string => (bound ? (cluster.node(name)?.zone ?? '') : '');
    // A node with a pod that budgets never let go cannot be emptied.
    this.#nodes = [...this.#onNode]
      .filter(([name, pods]) => pods.length === state.remaining(name))
      .map(([name, pods]) => ({ name, zone: zoneOf(name), left: pods.length }))
      .sort((a, b) => a.left - b.left || compareText(a.name, b.name));
    this.#byName = new Map(this.#nodes.map((node) => [node.name, node]));
  }

  /** Notes that pods have left their nodes. */
  left(pods: Iterable<PlanPod>): void {
    for (const { node: name } of pods) {
      const node = this.#byName.get(name);
      if (node !== undefined) node.left = this.#state.remaining(name);
    }
    // Little has changed since the last time, and what is nearly sorted is sorted quickly.
    this.#nodes = this.#nodes
      .filter((node) => node.left > 0)
      .sort((a, b) => a.left - b.left || compareText(a.name, b.name));
  }

  /** Those with the fewest pods first. */
  get nearest(): readonly OrderedNode[] {
    return this.#nodes;
  }

  /** The units with pods on a node, and those pods. */
  partsOn({ name }: OrderedNode): MovePart[] {
    const parts = new Map<Move, PlanPod[]>();
    for (const pod of this.#onNode.get(name) ?? []) {
      const move = this.#pending.get(pod.unit);
      if (move === undefined || !move.pods.includes(pod)) continue;
      const list = parts.get(move);
      if (list === undefined) parts.set(move, [pod]);
      else list.push(pod);
    }
    return [...parts].map(([move, pods]) => ({ move, pods }));
  }
}

/** What is left of the parts without these pods. */
export function without(parts: readonly MovePart[], taken: ReadonlySet<PlanPod>): MovePart[] {
  return parts
    .map(({ move, pods }) => ({ move, pods: pods.filter((pod) => !taken.has(pod)) }))
    .filter(({ pods }) => pods.length > 0);
}
