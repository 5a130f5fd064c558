import type { PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus } from '../../api/quorate/types.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { computeAllowed, computeDesired } from './arithmetic.ts';
import { readBudgetStatus } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';

export interface Charge {
  readonly namespace: string;
  readonly pod: string;
  readonly cost: 0 | 1;
  readonly now: number;
  /** Noted as of this time: a group that is given notice is kept for until two minutes after its deadline. */
  readonly until?: number | undefined;
}

/** The status of a budget after an eviction was approved: its allowance falls by the cost, the pod is recorded. */
export function chargedStatus(
  status: PodDisruptionBudgetStatus,
  { cost, namespace, now, pod, until }: Charge,
  index: DisruptionIndex,
): PodDisruptionBudgetStatus {
  const allowed = (status.disruptionsAllowed ?? 0) - cost;
  const disruptedPods = tidied(status.disruptedPods ?? {}, namespace, index);
  disruptedPods[pod] = formatTime(until ?? now);
  const conditions = cost === 1 && allowed === 0 ? exhausted(status, now) : status.conditions;
  return { ...status, disruptionsAllowed: allowed, disruptedPods, ...(conditions && { conditions }) };
}

export interface LedgerQuestion {
  readonly namespace: string;
  readonly name: string;
  readonly status: DisruptionLedgerStatus;
  readonly now: number;
}

/**
 * The numbers of a ledger as its grants and the pods make them now. Nothing is said where pods are counted, or where the
 * controller could not count.
 */
export function recountedNumbers(
  index: DisruptionIndex,
  { name, namespace, now, status }: LedgerQuestion,
): PodDisruptionBudgetStatus {
  const facts = index.budget(namespace, name);
  if (facts === undefined) return {};
  const count = index.suppose([{ ...facts, status: readBudgetStatus(status) }], () =>
    index.count(namespace, name, now),
  );
  const isFailed = status.conditions?.some(({ reason }) => reason === 'SyncFailed');
  if (count?.mode.unit !== 'PodGroup' || isFailed) return {};
  const { expectedUnits, healthy } = count;
  const disruptionsAllowed = computeAllowed(healthy, computeDesired(count.budget, expectedUnits), expectedUnits);
  const conditions = disruptionsAllowed === 0 ? exhausted(status, now) : status.conditions;
  return { currentHealthy: healthy, disruptionsAllowed, ...(conditions && { conditions }) };
}

/**
 * A copy without what the disruption controller would drop as well, pods that are gone or going: the map is written whole
 * with every eviction.
 */
function tidied(
  disruptedPods: Readonly<Record<string, string>>,
  namespace: string,
  index: DisruptionIndex,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in disruptedPods) {
    const pod = index.pod(namespace, name);
    if (pod !== undefined && pod.deletionTimestamp === undefined) kept[name] = disruptedPods[name] as string;
  }
  return kept;
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
