import type { PlanPod, PlanQuestion, UnitEviction } from './model.ts';
import { Room } from './room.ts';

/** What is left to do while a plan is made. */
export class PlanState {
  readonly room: Room;
  readonly #nodesReturn: boolean;
  /** Pods still on each node to drain. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(question: PlanQuestion) {
    this.room = new Room(question);
    this.#nodesReturn = question.nodesReturn;
    for (const { drain, name } of question.nodes) if (drain) this.#waiting.set(name, new Set());
    for (const { id, node } of question.pods) this.#waiting.get(node)?.add(id);
  }

  remaining(node: string): number {
    return this.#waiting.get(node)?.size ?? 0;
  }

  /** Nodes with nothing to move; they are done before the first step. */
  takeEmpty(): string[] {
    const empty = [...this.#waiting].filter(([, pods]) => pods.size === 0).map(([name]) => name);
    for (const name of empty) {
      this.#waiting.delete(name);
      if (this.#nodesReturn) this.room.open(name);
    }
    return empty.sort();
  }

  /** Marks the pods as gone; answers the nodes that are empty now. */
  settle(evictions: readonly UnitEviction[], nodeOf: ReadonlyMap<string, PlanPod>): string[] {
    for (const { pods } of evictions) {
      for (const id of pods) this.#waiting.get(nodeOf.get(id)?.node ?? '')?.delete(id);
    }
    this.room.endStep();
    return this.takeEmpty();
  }
}
