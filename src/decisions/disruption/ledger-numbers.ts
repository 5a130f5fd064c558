import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { type BudgetStatus, readBudget, readBudgetStatus } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { isMarked } from './published-status.ts';

/** Numbers of ours never stand in the way of what groups allow: the webhook makes room in them before it grants. */
function readPublished(budget: PodDisruptionBudget): BudgetStatus {
  const published = readBudgetStatus(budget.status);
  return isMarked(budget) ? { ...published, disruptionsAllowed: Number.POSITIVE_INFINITY } : published;
}

export interface LedgerUse {
  readonly now: number;
  /** An eviction is also checked by the API server itself, against what is published; a delete is not. */
  readonly evicts: boolean;
}

/** Lets the numbers of a budget's ledger decide where groups count. Where pods count, those that are published do. */
export function takeLedger(
  index: DisruptionIndex,
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  { evicts, now }: LedgerUse,
): void {
  const published = evicts ? readPublished(budget) : undefined;
  const facts = { ...readBudget({ ...budget, status }), published };
  index.setBudget(facts);
  const isInGroups = index.count(facts.namespace, facts.name, now)?.mode.unit === 'PodGroup';
  if (!isInGroups && facts.status.podGroupBudget?.status !== 'True') index.setBudget(readBudget(budget));
}
