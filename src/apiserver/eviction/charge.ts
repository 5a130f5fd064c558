import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey } from '../registry/row.ts';
import { notFound } from '../status.ts';
import { putObject } from '../stored/encoding.ts';

export interface Charge {
  readonly namespace: string;
  readonly budget: string;
  readonly pod: string;
  readonly cost: 0 | 1;
  readonly now: number;
}

/** Above this many approvals those that are done are dropped; the map is written whole with every eviction. */
const TIDY_ABOVE = 16;

/** Takes the cost from the budget's allowance and records the approval, even one that costs nothing. */
export function chargeBudget(
  { kernel, index }: { kernel: Kernel; index: DisruptionIndex },
  transaction: Transaction,
  charge: Charge,
): void {
  const row = kernel.registry.byPlural('policy', 'poddisruptionbudgets');
  if (row === undefined) throw new Error('PodDisruptionBudgets are not served');
  const key = objectKey(row, charge.namespace, charge.budget);
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(row, charge.budget);
  const budget = kernel.objects.read(entry);
  const { status = {} } = budget as unknown as PodDisruptionBudget;
  const object = { ...budget, metadata: { ...budget.metadata }, status: charged(status, charge, index) } as ApiObject;
  putObject(kernel, transaction, { row, key, object });
}

function charged(
  status: PodDisruptionBudgetStatus,
  { cost, namespace, now, pod }: Charge,
  index: DisruptionIndex,
): PodDisruptionBudgetStatus {
  const allowed = (status.disruptionsAllowed ?? 0) - cost;
  const disruptedPods = { ...tidied(status.disruptedPods ?? {}, namespace, index), [pod]: formatTime(now) };
  const conditions = cost === 1 && allowed === 0 ? exhausted(status, now) : status.conditions;
  return { ...status, disruptionsAllowed: allowed, disruptedPods, ...(conditions && { conditions }) };
}

/** What the disruption controller would drop as well: pods that are gone or going need no entry to be left out. */
function tidied(
  disruptedPods: Readonly<Record<string, string>>,
  namespace: string,
  index: DisruptionIndex,
): Readonly<Record<string, string>> {
  const entries = Object.entries(disruptedPods);
  if (entries.length <= TIDY_ABOVE) return disruptedPods;
  return Object.fromEntries(
    entries.filter(([name]) => {
      const pod = index.pod(namespace, name);
      return pod !== undefined && pod.deletionTimestamp === undefined;
    }),
  );
}

function exhausted({ conditions = [], observedGeneration }: PodDisruptionBudgetStatus, now: number) {
  const old = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration !== undefined && { observedGeneration }),
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : formatTime(now),
    reason: 'InsufficientPods',
    message: '',
  };
  return old === undefined ? [...conditions, condition] : conditions.map((one) => (one === old ? condition : one));
}
