import type { Condition } from '../../api/generated/meta-v1.ts';
import { formatTime } from '../../machinery/values/index.ts';

export type WantedCondition = Omit<Condition, 'lastTransitionTime'>;

/** Puts a condition in its place among the others. The transition time moves only when the status flips. */
export function setCondition(conditions: readonly Condition[], wanted: WantedCondition, now: number): Condition[] {
  const old = conditions.find(({ type }) => type === wanted.type);
  const lastTransitionTime = old?.status === wanted.status ? old.lastTransitionTime : formatTime(now);
  const { message, observedGeneration, reason, status, type } = wanted;
  const condition: Condition = {
    type,
    status,
    ...(observedGeneration ? { observedGeneration } : {}),
    lastTransitionTime,
    reason,
    message,
  };
  if (old === undefined) return [...conditions, condition];
  return conditions.map((one) => (one === old ? condition : one));
}

/** As the built-in disruption controller words it; it would write its own again if anything differed. */
export function disruptionAllowedCondition(allowed: number, observedGeneration: number): WantedCondition {
  return {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  };
}
