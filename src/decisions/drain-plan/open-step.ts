import { Account } from './account.ts';
import { evictionOf } from './step-eviction.ts';
import type { PlanBudget, PlanPod, UnitEviction } from './model.ts';
import type { Move } from './moves.ts';
import { type MovePart, type PlacedPart, without } from './node-order.ts';
import type { Moved, Room } from './room.ts';

/** Collects the parts of several nodes into one step. */
export class OpenStep {
  /** What the step has already. */
  readonly gone = new Set<PlanPod>();
  readonly #account: Account;
  readonly #room: Room;
  readonly #taken = new Map<Move, { readonly pods: readonly PlanPod[]; readonly moved: readonly Moved[] }>();

  constructor(budgets: ReadonlyMap<string, PlanBudget>, room: Room) {
    this.#account = new Account(budgets);
    this.#room = room;
  }

  /** Whether budgets take these parts as well. */
  affords(parts: readonly MovePart[]): boolean {
    const left = this.gone.size === 0 ? parts : without(parts, this.gone);
    return this.#account.trial(() => left.every(({ move, pods }) => this.#account.take(move.unit, pods)));
  }

  /** Those of the parts that budgets take beside each other and beside what the step has. */
  choose(parts: readonly PlacedPart[]): PlacedPart[] {
    const counts = new Map<Move, number>();
    return this.#account.trial(() => parts.filter((part) => this.#mayGo(part, counts)));
  }

  /** Adds parts if budgets and room take all of them. */
  add(parts: readonly PlacedPart[]): boolean {
    const affordable = this.#account.trial(() => {
      const counts = new Map<Move, number>();
      return parts.every((part) => this.#mayGo(part, counts));
    });
    if (!affordable || !repeatAll(parts, this.#room)) return false;
    for (const { move, pods } of parts) this.#account.take(move.unit, pods);
    for (const part of parts) {
      for (const pod of part.pods) this.gone.add(pod);
      const known = this.#taken.get(part.move);
      this.#taken.set(part.move, {
        pods: [...(known?.pods ?? []), ...part.pods],
        moved: [...(known?.moved ?? []), ...part.moved],
      });
    }
    return true;
  }

  evictions(): UnitEviction[] {
    return [...this.#taken].map(([move, { moved, pods }]) => evictionOf(move, pods, moved));
  }

  /** A unit with members to spare gives no more than those in one step. */
  #mayGo({ move, pods }: MovePart, counts: Map<Move, number>): boolean {
    const before = (this.#taken.get(move)?.pods.length ?? 0) + (counts.get(move) ?? 0);
    if ((move.spare > 0 && before + pods.length > move.spare) || !this.#account.take(move.unit, pods)) return false;
    counts.set(move, (counts.get(move) ?? 0) + pods.length);
    return true;
  }
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
