import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { chargedStatus, type DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey } from '../registry/resource.ts';
import { notFound } from '../exchange/status.ts';
import { putObject } from '../stored/encoding.ts';

/** What to take from which budget. */
export interface BudgetCharge {
  readonly namespace: string;
  readonly budget: string;
  readonly pods: readonly { readonly name: string; readonly cost: 0 | 1 }[];
  readonly now: number;
  /** For a group that is given notice: kept until two minutes after this. */
  readonly until?: number | undefined;
}

/** Takes the cost from the budget's allowance and records the approvals, even those that cost nothing. */
export function chargeBudget(
  { context, index }: { context: ServerContext; index: DisruptionIndex },
  transaction: Transaction,
  { budget: name, namespace, now, pods, until }: BudgetCharge,
): void {
  const resource = context.registry.byPlural('policy', 'poddisruptionbudgets');
  if (resource === undefined) throw new Error('PodDisruptionBudgets are not served');
  const key = objectKey(resource, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(resource, name);
  const { managedFields, object: budget } = context.objects.readParts(entry);
  const { status = {} } = budget as PodDisruptionBudget;
  const object = {
    ...budget,
    metadata: { ...budget.metadata },
    status: pods.reduce(
      (before, { cost, name: pod }) => chargedStatus(before, { namespace, pod, cost, now, until }, index),
      status,
    ),
  } as ApiObject;
  putObject(context, transaction, { resource, key, object, managedFields });
}
