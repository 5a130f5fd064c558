import { type BudgetExplanation, explainBudget, formatBudgetExplanation } from '../../decisions/disruption/index.ts';
import {
  explainUnavailableBudget,
  formatUnavailableBudget,
  type UnavailableBudgetExplanation,
} from '../../decisions/unavailability/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { gatherBudgets } from '../../cluster-state/gather.ts';

/** Where every budget of a cluster or of a namespace stands. */
export interface Overview {
  readonly budgets: readonly BudgetExplanation[];
  readonly unavailability: readonly UnavailableBudgetExplanation[];
}

export interface OverviewAnswer {
  readonly value: Overview;
  readonly lines: readonly string[];
  /** Every budget could lose one more. */
  readonly granted: boolean;
}

/** Explains every budget; those that let nothing go come first, in full. */
export async function explainEverything(
  client: Client,
  { namespace, now }: { namespace?: string | undefined; now: number },
): Promise<OverviewAnswer> {
  const { index, unavailability } = await gatherBudgets(client, { namespace, now });
  const budgets = Array.from(index.budgets())
    .flatMap((budget) => explainBudget(index, budget, now) ?? [])
    // A budget that selects nothing keeps nobody from anything.
    .filter(({ pods }) => pods > 0);
  const guards = unavailability.indexes
    .namespaces()
    .flatMap((at) => [...unavailability.indexes.of(at).budgets()].map(explainUnavailableBudget))
    .filter(({ pods }) => pods > 0);
  const told = [
    ...budgets.map((one) => ({
      of: `pdb/${one.budget.name} in namespace ${one.namespace}`,
      allowed: one.budget.allowed,
      lines: formatBudgetExplanation(one, now),
    })),
    ...guards.map((one) => ({
      of: `pub/${one.name} in namespace ${one.namespace}`,
      allowed: one.allowed,
      lines: formatUnavailableBudget(one),
    })),
  ];
  const stuck = told.filter(({ allowed }) => allowed <= 0);
  const free = told.filter(({ allowed }) => allowed > 0);
  return {
    value: { budgets, unavailability: guards },
    granted: stuck.length === 0,
    lines: [
      ...(told.length === 0 ? ['No budget selects any pod.'] : []),
      ...stuck.flatMap(({ lines, of }) => [`${of} lets nothing go now:`, ...lines.map((line) => `  ${line}`), '']),
      ...free.map(({ allowed, of }) => `${of}: ${allowed} may be disrupted now.`),
    ],
  };
}
