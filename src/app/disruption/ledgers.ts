import { disruptionLedgerType, type DisruptionLedger } from '../../api/quorate/types.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { computeAllowed, computeDesired, type DisruptionIndex, takeLedger } from '../../decisions/disruption/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { ClusterReader } from './cluster-reader.ts';

/**
 * Puts the numbers that decide in place of those a cluster publishes, for budgets that count groups. Where Quorate's
 * operator runs they are in the budget's ledger; what Kubernetes publishes is in pods, and may name evictions that are
 * long over. Where it does not run, the groups that are there are counted, which can only be stricter than what the
 * cluster itself would say to a pod at a time.
 */
export async function readGroupNumbers(
  reader: ClusterReader,
  index: DisruptionIndex,
  budgets: readonly PodDisruptionBudget[],
  now: number,
): Promise<void> {
  const grouped = budgets.filter(({ metadata: { name = '', namespace = '' } }) => {
    const count = index.count(namespace, name, now);
    return count !== undefined && (count.mode.unit === 'PodGroup' || count.linked > 0 || count.mode.fallback);
  });
  if (grouped.length === 0) return;
  const ledgers = new Map<string, DisruptionLedger>();
  for (const ledger of await reader.list([disruptionLedgerType])) ledgers.set(keyOf(ledger), ledger);
  for (const budget of grouped) {
    const ledger = ledgers.get(keyOf(budget));
    const owner = ledger?.metadata.ownerReferences?.find(({ kind }) => kind === 'PodDisruptionBudget');
    if (ledger?.status !== undefined && (owner === undefined || owner.uid === budget.metadata.uid)) {
      takeLedger(index, budget, ledger.status, now);
    } else countHere(index, budget, now);
  }
}

const keyOf = ({ metadata }: { metadata: { name?: string | undefined; namespace?: string | undefined } }): string =>
  `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function countHere(index: DisruptionIndex, { metadata }: PodDisruptionBudget, now: number): void {
  const { name = '', namespace = '' } = metadata;
  const count = index.count(namespace, name, now);
  // The embedded host publishes in groups itself.
  if (count?.mode.unit !== 'PodGroup' || count.budget.status.podGroupBudget?.status === 'True') return;
  const { budget, expectedUnits, healthy } = count;
  const desired = computeDesired(budget, expectedUnits);
  index.setBudget({
    ...budget,
    status: {
      ...budget.status,
      observedGeneration: budget.generation,
      disruptionsAllowed: computeAllowed(healthy, desired, expectedUnits),
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expectedUnits,
      podGroupBudget: {
        type: 'PodGroupBudget',
        status: 'True',
        reason: 'GroupUnits',
        message: '',
        lastTransitionTime: formatTime(now),
      },
    },
  });
}
