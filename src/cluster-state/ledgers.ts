import { type DisruptionLedger, disruptionLedgerType } from '../api/quorate/types.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { keyOf } from '../api/resource.ts';
import { concernsGroups, type DisruptionIndex, takeGroupNumbers } from '../decisions/disruption/index.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** Puts the numbers that decide in place of those a cluster publishes; ledgers are only read where groups count. */
export async function readGroupNumbers(
  reader: ClusterReader,
  index: DisruptionIndex,
  budgets: readonly PodDisruptionBudget[],
  now: number,
): Promise<void> {
  const grouped = budgets.filter((budget) => concernsGroups(index, budget, now));
  if (grouped.length === 0) return;
  const ledgers = new Map<string, DisruptionLedger>();
  for (const ledger of await reader.list([disruptionLedgerType])) ledgers.set(keyOf(ledger), ledger);
  for (const budget of grouped) takeGroupNumbers(index, budget, ledgers.get(keyOf(budget)), now);
}
