import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/generated/policy-v1.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podDisruptionBudgetType } from '../../../api/resource-types.ts';
import type { Client, Informer } from '../../../machinery/runtime/index.ts';

/** Where budgets are read and their numbers written: the budgets themselves, or ledgers beside them. */
export interface BudgetBook {
  /** A budget with the status that decisions go by. */
  get(key: ObjectKey): PodDisruptionBudget | undefined;
  /** Writes numbers computed from a budget this book gave; throws a conflict when they have changed since. */
  write(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void>;
  /** Finishes what an earlier write left half done; called where the numbers are as they were written. */
  mend?(budget: PodDisruptionBudget): Promise<void>;
  /** True for a budget that somebody else counts in this unit: it is neither written nor talked about. */
  leavesAlone?(key: ObjectKey, unit: 'Pod' | 'PodGroup'): boolean;
  follow(follower: BudgetFollower): void;
  whenSynced(): Promise<void>;
}

export interface BudgetFollower {
  readonly seen: (budget: PodDisruptionBudget) => void;
  readonly gone: (budget: PodDisruptionBudget) => void;
}

/** The numbers live in the status of the budgets: nobody else counts. */
export function ownStatusBook(client: Client, budgets: Informer<PodDisruptionBudget>): BudgetBook {
  return {
    get: (key) => budgets.get(key),
    async write(budget, status) {
      await client.updateStatus(podDisruptionBudgetType, { ...budget, status });
    },
    follow({ gone, seen }) {
      budgets.addHandler({ added: seen, updated: seen, deleted: gone });
    },
    whenSynced: () => budgets.whenSynced(),
  };
}
