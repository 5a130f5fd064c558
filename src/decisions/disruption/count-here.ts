import { formatTime } from '../../machinery/values/index.ts';
import { computeAllowed, computeDesired } from './arithmetic.ts';
import type { DisruptionIndex } from './disruption-index.ts';

/**
 * Puts the groups that are there in place of what a budget publishes, where it counts groups and nobody publishes them:
 * neither the embedded host nor a ledger.
 */
export function countHere(
  index: DisruptionIndex,
  { name, namespace }: { readonly namespace: string; readonly name: string },
  now: number,
): void {
  const count = index.count(namespace, name, now);
  // The embedded host publishes in groups itself.
  if (count?.mode.unit !== 'PodGroup' || count.budget.status.podGroupBudget?.status === 'True') return;
  const { budget, expectedUnits, healthy } = count;
  const desired = computeDesired(budget, expectedUnits);
  index.setBudget({
    ...budget,
    // A budget in a file says nothing of what an API server would go by.
    published: budget.generation === 0 ? undefined : budget.status,
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
