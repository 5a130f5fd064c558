import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import { countHere } from './count-here.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { takeLedger } from './ledger-numbers.ts';

const placeOf = ({ metadata }: PodDisruptionBudget) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

/** Whether other numbers than the published ones may decide about a budget: its pods name groups. */
export function concernsGroups(index: DisruptionIndex, budget: PodDisruptionBudget, now: number): boolean {
  const { name, namespace } = placeOf(budget);
  const count = index.count(namespace, name, now);
  return count !== undefined && (count.mode.unit === 'PodGroup' || count.linked > 0 || count.mode.fallback);
}

/**
 * Puts the numbers that decide in place of those a cluster publishes, for a budget that counts groups. Where Quorate's
 * operator runs they are in the budget's ledger; what Kubernetes publishes is in pods, and may name evictions that are
 * long over. Where it does not run, the groups that are there are counted, which can only be stricter than what the
 * cluster itself would say to a pod at a time.
 */
export function takeGroupNumbers(
  index: DisruptionIndex,
  budget: PodDisruptionBudget,
  ledger: DisruptionLedger | undefined,
  now: number,
): void {
  const owner = ledger?.metadata.ownerReferences?.find(({ kind }) => kind === 'PodDisruptionBudget');
  if (ledger?.status !== undefined && (owner === undefined || owner.uid === budget.metadata.uid)) {
    takeLedger(index, budget, ledger.status, { now, evicts: true });
  } else countHere(index, placeOf(budget), now);
}
