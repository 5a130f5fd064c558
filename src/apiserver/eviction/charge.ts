import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { type Charge, chargedStatus, type DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import { notFound } from '../status.ts';
import { putObject } from '../stored/encoding.ts';

/** What to take from which budget. */
export interface BudgetCharge extends Charge {
  readonly budget: string;
}

/** Takes the cost from the budget's allowance and records the approval, even one that costs nothing. */
export function chargeBudget(
  { kernel, index }: { kernel: Kernel; index: DisruptionIndex },
  transaction: Transaction,
  charge: BudgetCharge,
): void {
  const row = kernel.registry.byPlural('policy', 'poddisruptionbudgets');
  if (row === undefined) throw new Error('PodDisruptionBudgets are not served');
  const key = objectKey(row, charge.namespace, charge.budget);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(row, charge.budget);
  const budget = kernel.objects.read(entry);
  const { status = {} } = budget as unknown as PodDisruptionBudget;
  const object = {
    ...budget,
    metadata: { ...budget.metadata },
    status: chargedStatus(status, charge, index),
  } as ApiObject;
  putObject(kernel, transaction, { row, key, object });
}
