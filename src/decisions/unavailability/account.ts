import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import type { BudgetIndex, IndexedBudget } from './budget-index.ts';
import {
  chargedUnavailability,
  foundRooms,
  type JudgeQuestion,
  type UnavailabilityJudgement,
  judgeUnavailability,
} from './judge.ts';
import type { FoundRoom } from '../disruption/room.ts';
import { keepFoundRoom } from './room.ts';

export type AccountQuestion = Omit<JudgeQuestion, 'pod' | 'covering'>;

/** A budget with its status once what was taken so far is recorded. */
export interface Charged {
  readonly entry: IndexedBudget;
  readonly status: PodUnavailableBudgetStatus;
}

/**
 * Asks the budgets of one namespace about one pod after another, each as if those taken before were gone. The counts
 * are moved while `run` lasts and then left as they were found.
 */
export class UnavailabilityAccount {
  readonly #index: BudgetIndex;
  readonly #question: AccountQuestion;
  readonly #taken = new Map<string, Charged>();
  readonly #rooms: FoundRoom[] = [];

  constructor(index: BudgetIndex, question: AccountQuestion) {
    this.#index = index;
    this.#question = question;
  }

  run<T>(work: () => T): T {
    for (const { entry, status } of this.#taken.values()) entry.tally.setLedger(status);
    try {
      return work();
    } finally {
      for (const { entry } of this.#taken.values()) entry.tally.setLedger(entry.budget.status ?? {});
    }
  }

  /** Undefined for a pod that is not known. Only to be called while `run` lasts. */
  ask(name: string): UnavailabilityJudgement | undefined {
    const pod: Pod | undefined = this.#index.pod(name);
    if (pod === undefined) return undefined;
    const covering = this.#index.judging(name).map((entry) => {
      const taken = this.#taken.get(entry.budget.metadata.name ?? '');
      return taken === undefined ? entry : { ...entry, budget: { ...entry.budget, status: taken.status } };
    });
    return judgeUnavailability({ ...this.#question, pod, covering });
  }

  /** Records a pod that was granted, and keeps the room found for it from those after it. */
  take(name: string, judgement: Extract<UnavailabilityJudgement, { allowed: true }>): void {
    const rooms = foundRooms(judgement.grants);
    keepFoundRoom(this.#question.room?.judge, rooms, this.#question.nowMs);
    this.#rooms.push(...rooms);
    for (const { entry, verdict } of judgement.grants) {
      const status = chargedUnavailability(entry.budget.status, verdict, { ...this.#question, podName: name });
      const budgetName = entry.budget.metadata.name ?? '';
      const original = this.#index.budget(budgetName);
      if (status === undefined || original === undefined) continue;
      this.#taken.set(budgetName, { entry: original, status });
      entry.tally.setLedger(status);
    }
  }

  /** The places that what was taken rests on. */
  rooms(): readonly FoundRoom[] {
    return this.#rooms;
  }

  charges(): readonly Charged[] {
    return [...this.#taken.values()];
  }
}
