/** A budget's own status on a cluster, where its numbers are ours. */
import type { Condition } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/policy-v1.ts';
import { semanticEqual } from '../../machinery/values/index.ts';
import { disruptionAllowedCondition, setCondition } from './conditions.ts';
import type { Publication } from './publication.ts';

/** Condition of a budget whose numbers in pods follow from groups. */
export const COUNTS_GROUPS = 'CountsGroups';

/** The marker: the numbers of this status are ours. */
export function isMarked({ status }: PodDisruptionBudget): boolean {
  return (status?.conditions ?? []).some((one) => one.type === COUNTS_GROUPS && one.status === 'True');
}

/** The status with these numbers; what the API server noted in it stays. */
export function publishedStatus(
  { metadata, status = {} }: PodDisruptionBudget,
  { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, message }: Publication,
  now: number,
): PodDisruptionBudgetStatus {
  const observedGeneration = metadata.generation ?? 0;
  const marker = { type: COUNTS_GROUPS, status: 'True', reason: 'GroupUnits', message, observedGeneration };
  let conditions: Condition[] = status.conditions ?? [];
  conditions = setCondition(conditions, disruptionAllowedCondition(disruptionsAllowed, observedGeneration), now);
  conditions = setCondition(conditions, marker, now);
  return {
    ...status,
    observedGeneration,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions,
  };
}

/** The conditions with a marker that says why the numbers are no longer ours; as they are where there never was one. */
export function withoutMarker(conditions: readonly Condition[], reason: string, now: number): readonly Condition[] {
  const old = conditions.find(({ type }) => type === COUNTS_GROUPS);
  if (old === undefined || (old.status === 'False' && old.reason === reason)) return conditions;
  const { observedGeneration } = old;
  return setCondition(
    conditions,
    { type: COUNTS_GROUPS, status: 'False', reason, message: '', observedGeneration },
    now,
  );
}

/**
 * The status of a budget that counts pods from now on: nothing may go by numbers that meant groups. Whoever counts its
 * pods is woken by the change and puts in its own.
 */
export function unpublishedStatus(
  { status = {} }: PodDisruptionBudget,
  reason: string,
  now: number,
): PodDisruptionBudgetStatus {
  return { ...status, disruptionsAllowed: 0, conditions: [...withoutMarker(status.conditions ?? [], reason, now)] };
}

/** Whether two statuses of a budget say the same. */
export function isSamePublished(a: PodDisruptionBudgetStatus = {}, b: PodDisruptionBudgetStatus = {}): boolean {
  return (
    (a.disruptionsAllowed ?? 0) === (b.disruptionsAllowed ?? 0) &&
    (a.currentHealthy ?? 0) === (b.currentHealthy ?? 0) &&
    (a.desiredHealthy ?? 0) === (b.desiredHealthy ?? 0) &&
    (a.expectedPods ?? 0) === (b.expectedPods ?? 0) &&
    (a.observedGeneration ?? 0) === (b.observedGeneration ?? 0) &&
    semanticEqual(a.conditions ?? [], b.conditions ?? [])
  );
}
