import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { readBudget } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';

/**
 * Lets the numbers of a budget's ledger decide where groups count. Where pods count, what Kubernetes publishes decides,
 * as it does in an eviction.
 */
export function takeLedger(
  index: DisruptionIndex,
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  now: number,
): void {
  const facts = readBudget({ ...budget, status });
  index.setBudget(facts);
  const isInGroups = index.count(facts.namespace, facts.name, now)?.mode.unit === 'PodGroup';
  if (!isInGroups && facts.status.podGroupBudget?.status !== 'True') index.setBudget(readBudget(budget));
}
