import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus, LedgerGrant } from '../../../api/quorate/types.ts';
import { CAPACITY_AVAILABLE, type CapacityFinding } from '../../../decisions/capacity/index.ts';
import {
  CAPACITY_LOST,
  computeAllowed,
  disruptionAllowedCondition,
  type Mode,
  setCondition,
  SETTLING,
  UNRESOLVED,
  type WantedCondition,
} from '../../../decisions/disruption/index.ts';
import { formatTime, semanticEqual } from '../../../machinery/values/index.ts';

export interface DisruptionNumbers {
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
  readonly disruptedPods: Record<string, string>;
  /** Only of a ledger. */
  readonly grants?: LedgerGrant[] | undefined;
  readonly mode: Mode;
  /** Whether what the budget guards would find places, as it was last found out. */
  readonly capacity?: CapacityFinding | undefined;
  /** It asks for room: what its status says of that stands until something else is found. */
  readonly needsRoom?: boolean | undefined;
  /** When pods are counted instead of groups that cannot be resolved; only while that is waited for. */
  readonly settlesAt: number | undefined;
}

/** The status these numbers make; undefined when the budget already says all of it. */
export function computeStatus(
  { metadata, status = {} }: PodDisruptionBudget,
  { capacity, desired, disruptedPods, expected, grants, healthy, mode, needsRoom, settlesAt }: DisruptionNumbers,
  now: number,
): DisruptionLedgerStatus | undefined {
  const observedGeneration = metadata.generation ?? 0;
  const allowed = computeAllowed(healthy, desired, expected);
  const wanted = [
    disruptionAllowedCondition(allowed, observedGeneration),
    groupBudget(mode, status, observedGeneration),
    settling(mode, status, { observedGeneration, settlesAt }),
  ];
  if (needsRoom && capacity !== undefined) wanted.push({ ...capacity, observedGeneration });
  // Nobody says any more that room is lost, or the budget asks for none.
  const isPast = (reason: string): boolean => !needsRoom || (capacity === undefined && reason === CAPACITY_LOST);
  let conditions = (status.conditions ?? []).filter(
    ({ reason, type }) => type !== CAPACITY_AVAILABLE || !isPast(reason),
  );
  for (const condition of wanted) if (condition !== undefined) conditions = setCondition(conditions, condition, now);
  const next: DisruptionLedgerStatus = {
    observedGeneration,
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions,
    ...(grants !== undefined && { grants }),
  };
  return isSameStatus(status, next) ? undefined : next;
}

/** Nothing may go and nothing else changes: what is left when the numbers cannot be had. */
export function computeFailedStatus(
  { status = {} }: PodDisruptionBudget,
  why: string,
  now: number,
): PodDisruptionBudgetStatus {
  const failed = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: why,
    observedGeneration: status.observedGeneration,
  };
  return {
    ...status,
    disruptionsAllowed: 0,
    currentHealthy: status.currentHealthy ?? 0,
    desiredHealthy: status.desiredHealthy ?? 0,
    expectedPods: status.expectedPods ?? 0,
    conditions: setCondition(status.conditions ?? [], failed, now),
  };
}

/** What the numbers count. A budget that never had to do with groups says nothing about them. */
function groupBudget(
  { reason, unit }: Mode,
  { conditions }: PodDisruptionBudgetStatus,
  observedGeneration: number,
): WantedCondition | undefined {
  if (reason === 'NoGroupedPods' && !conditions?.some(({ type }) => type === 'PodGroupBudget')) return undefined;
  return {
    type: 'PodGroupBudget',
    status: unit === 'PodGroup' ? 'True' : 'False',
    reason,
    message: '',
    observedGeneration,
  };
}

/** Since when, and until when, groups are counted that cannot all be resolved. Its transition time survives restarts. */
function settling(
  { settling: unresolved, unit }: Mode,
  { conditions }: PodDisruptionBudgetStatus,
  { observedGeneration, settlesAt }: { observedGeneration: number; settlesAt: number | undefined },
): WantedCondition | undefined {
  const type = SETTLING;
  if (unresolved !== undefined) {
    const until = settlesAt === undefined ? '' : `; pods are counted from ${formatTime(settlesAt)} on`;
    const message = `${UNRESOLVED[unresolved]}; such groups count as down${until}`;
    return { type, status: 'True', reason: unresolved, message, observedGeneration };
  }
  if (!conditions?.some((condition) => condition.type === type)) return undefined;
  const reason = unit === 'PodGroup' ? 'GroupsResolved' : 'CountsPods';
  return { type, status: 'False', reason, message: '', observedGeneration };
}

function isSameStatus(a: DisruptionLedgerStatus, b: DisruptionLedgerStatus): boolean {
  return (
    (a.currentHealthy ?? 0) === b.currentHealthy &&
    (a.desiredHealthy ?? 0) === b.desiredHealthy &&
    (a.expectedPods ?? 0) === b.expectedPods &&
    (a.disruptionsAllowed ?? 0) === b.disruptionsAllowed &&
    (a.observedGeneration ?? 0) === b.observedGeneration &&
    semanticEqual(a.disruptedPods ?? {}, b.disruptedPods ?? {}) &&
    semanticEqual(a.grants, b.grants) &&
    semanticEqual(a.conditions, b.conditions)
  );
}
