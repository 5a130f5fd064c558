import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { type IntOrPercent, scaledValue } from '../../../machinery/values/index.ts';

const UNLIMITED = 2_147_483_647;

export interface Fenceposts {
  readonly surge: number;
  readonly unavailable: number;
}

/** Surge rounds up, unavailability down; a rollout that may do neither could never move, so it may lose one pod. */
export function resolveFenceposts(
  maxSurge: IntOrPercent | undefined,
  maxUnavailable: IntOrPercent | undefined,
  replicas: number,
): Fenceposts {
  const surge = scaledValue(maxSurge ?? 0, replicas, 'up');
  const unavailable = scaledValue(maxUnavailable ?? 0, replicas, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export const replicasOf = ({ spec }: Deployment): number => spec?.replicas ?? 1;
export const isRolling = ({ spec }: Deployment): boolean => spec?.strategy?.type !== 'Recreate';

/** How far a Deployment may go above and below its size right now. */
export function limitsOf(deployment: Deployment): Fenceposts {
  const replicas = replicasOf(deployment);
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const { surge, unavailable } = resolveFenceposts(maxSurge, maxUnavailable, replicas);
  return { surge, unavailable: Math.min(unavailable, replicas) };
}

/** Undefined when progress is not watched. */
export function progressDeadlineOf({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === UNLIMITED ? undefined : seconds;
}

/** Undefined when all old ReplicaSets are kept. */
export function historyLimitOf({ spec }: Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit;
  return limit === undefined || limit === UNLIMITED ? undefined : limit;
}
