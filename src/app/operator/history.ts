import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { leaseType, podDisruptionBudgetType } from '../../api/resource-types.ts';
import { type Client, type Clock, existing } from '../../machinery/runtime/index.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { ABANDONED_MS, NAME } from '../../webhook/index.ts';

/** How old the lease of replicas that run can be. */
const LEASE_MS = 15_000;

/**
 * Tells whether a budget without a ledger may have had one that is gone, with grants in it that nobody remembers. It may
 * if replicas ran just before this one started, and the budget was there by then; what they granted is over after a while.
 */
export async function openHistory(
  client: Client,
  { clock, namespace }: { clock: Clock; namespace: string },
): Promise<(budget: PodDisruptionBudget) => boolean> {
  const lease = await existing(client.get(leaseType, { namespace, name: NAME }));
  const ranMs = parseTime(lease?.spec?.renewTime) ?? Number.NEGATIVE_INFINITY;
  const ranLately = clock.now() - ranMs < ABANDONED_MS + LEASE_MS;
  if (!ranLately) return () => false;
  const startedAt = clock.elapsed();
  // By identity and not by age: times of creation are whole seconds, and one made just after the start is not meant.
  const { items } = await client.list(podDisruptionBudgetType);
  const wereThere = new Set(items.map(({ metadata }) => metadata.uid));
  return ({ metadata }) => clock.elapsed() - startedAt < ABANDONED_MS && wereThere.has(metadata.uid);
}
