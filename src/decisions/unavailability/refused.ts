import type { Pod } from '../../api/generated/core-v1.ts';
import type { ProtectedOperation } from '../../api/kruise/types.ts';
import type { IndexedBudget } from './budget-index.ts';
import type { UnavailabilityRefusal } from './judge.ts';

/** A request that was refused, as metrics and events tell of it. */
export interface RefusedRequest {
  readonly pod: Pod;
  readonly operation: ProtectedOperation;
  readonly username: string;
  readonly budgets: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly constraint: string | undefined;
    /** The budget counts groups. */
    readonly grouped: boolean;
  }[];
}

/** Which budgets refused, and for which of their fields. */
export function refusedBudgets(
  namespace: string,
  refusals: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityRefusal }[],
): RefusedRequest['budgets'] {
  return refusals.map(({ entry: { budget }, verdict }) => ({
    namespace,
    name: budget.metadata.name ?? '',
    constraint: verdict.constraint,
    grouped: budget.spec?.podGroupPolicy !== undefined,
  }));
}
