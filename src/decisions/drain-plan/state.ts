import type { PlanNode, PlanPod, PlanQuestion, UnitEviction } from './model.ts';
import { Room } from './room.ts';

/** What is left to do while a plan is made. */
export class PlanState {
  readonly room: Room;
  readonly #question: PlanQuestion;
  /** Pods still on each node to drain. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #drainNodes = new Map<string, PlanNode>();
  readonly #used = new Map<string, number[]>();

  constructor(question: PlanQuestion) {
    this.#question = question;
    this.room = new Room(question.nodes.filter(({ drain }) => !drain));
    for (const node of question.nodes) {
      if (!node.drain) continue;
      this.#waiting.set(node.name, new Set());
      this.#drainNodes.set(node.name, node);
      this.#used.set(
        node.name,
        node.free.map(() => 0),
      );
    }
    for (const pod of question.pods) {
      const waiting = this.#waiting.get(pod.node);
      if (waiting === undefined) continue;
      waiting.add(pod.id);
      const used = this.#used.get(pod.node) as number[];
      for (const [at, amount] of pod.requests.entries()) used[at] = (used[at] ?? 0) + amount;
    }
  }

  remaining(node: string): number {
    return this.#waiting.get(node)?.size ?? 0;
  }

  /** Nodes with nothing to move; they are done before the first step. */
  takeEmpty(): string[] {
    const empty = [...this.#waiting].filter(([, pods]) => pods.size === 0).map(([name]) => name);
    this.#complete(empty);
    return empty.sort();
  }

  /** Marks the pods as gone; answers the nodes that are empty now. */
  settle(evictions: readonly UnitEviction[], nodeOf: ReadonlyMap<string, PlanPod>): string[] {
    for (const { pods } of evictions) {
      for (const id of pods) this.#waiting.get(nodeOf.get(id)?.node ?? '')?.delete(id);
    }
    return this.takeEmpty();
  }

  #complete(names: readonly string[]): void {
    for (const name of names) {
      this.#waiting.delete(name);
      const node = this.#drainNodes.get(name);
      const used = this.#used.get(name);
      if (!this.#question.nodesReturn || node === undefined || used === undefined) continue;
      // Everything that was to move has moved, so its room is the room of an empty node.
      this.room.open(
        name,
        node.free.map((amount, at) => amount + (used[at] ?? 0)),
      );
    }
  }
}
