import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { chargedStatus, type DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import { notFound } from '../status.ts';
import { putObject } from '../stored/encoding.ts';

/** What to take from which budget. */
export interface BudgetCharge {
  readonly namespace: string;
  readonly budget: string;
  readonly pods: readonly { readonly name: string; readonly cost: 0 | 1 }[];
  readonly now: number;
}

/** Takes the cost from the budget's allowance and records the approvals, even those that cost nothing. */
export function chargeBudget(
  { kernel, index }: { kernel: Kernel; index: DisruptionIndex },
  transaction: Transaction,
  { budget: name, namespace, now, pods }: BudgetCharge,
): void {
  const row = kernel.registry.byPlural('policy', 'poddisruptionbudgets');
  if (row === undefined) throw new Error('PodDisruptionBudgets are not served');
  const key = objectKey(row, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(row, name);
  const { managedFields, object: budget } = kernel.objects.readParts(entry);
  const { status = {} } = budget as unknown as PodDisruptionBudget;
  const object = {
    ...budget,
    metadata: { ...budget.metadata },
    status: pods.reduce(
      (before, { cost, name: pod }) => chargedStatus(before, { namespace, pod, cost, now }, index),
      status,
    ),
  } as ApiObject;
  putObject(kernel, transaction, { row, key, object, managedFields });
}
