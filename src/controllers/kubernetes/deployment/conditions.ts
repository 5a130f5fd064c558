import type { DeploymentCondition } from '../../../api/generated/apps-v1.ts';
import { formatTime } from '../../../machinery/values/index.ts';

export type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';

export interface ConditionNews {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function findCondition(
  conditions: readonly DeploymentCondition[] | undefined,
  type: ConditionType,
): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Same status and reason: left alone. Otherwise replaced; the transition time moves only with the status. */
export function setCondition(
  conditions: readonly DeploymentCondition[],
  news: ConditionNews,
  now: number,
): DeploymentCondition[] {
  const known = findCondition(conditions, news.type);
  if (known?.status === news.status && known.reason === news.reason) return [...conditions];
  return replaceCondition(conditions, news, now);
}

/** Replaces even an equal condition, so that its update time says when it was last true. */
export function replaceCondition(
  conditions: readonly DeploymentCondition[],
  news: ConditionNews,
  now: number,
): DeploymentCondition[] {
  const known = findCondition(conditions, news.type);
  const time = formatTime(now);
  const since = known?.status === news.status ? known.lastTransitionTime : undefined;
  return [
    ...removeCondition(conditions, news.type),
    { ...news, lastUpdateTime: time, lastTransitionTime: since ?? time },
  ];
}

export function removeCondition(
  conditions: readonly DeploymentCondition[],
  type: ConditionType,
): DeploymentCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}
