import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { deepEqual, parseTime } from '../../../machinery/values/index.ts';
import { findCondition, removeCondition, replaceCondition, setCondition } from './conditions.ts';
import { limitsOf, progressDeadlineOf, replicasOf } from './limits.ts';
import { allOf, availableOf, type ReplicaSets, sizeOf, sum } from './replica-sets.ts';

/** Counts and availability; says nothing about progress. */
export function computeStatus(deployment: Deployment, sets: ReplicaSets, now: number): DeploymentStatus {
  const everything = allOf(sets);
  const available = sum(everything, availableOf);
  const enough = available >= replicasOf(deployment) - limitsOf(deployment).unavailable;
  const conditions = setCondition(
    deployment.status?.conditions ?? [],
    enough
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        },
    now,
  );
  return withoutZeros({
    observedGeneration: deployment.metadata.generation,
    replicas: sum(everything, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: sets.current?.status?.replicas ?? 0,
    readyReplicas: sum(everything, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(sum(everything, sizeOf) - available, 0),
    terminatingReplicas: terminatingReplicas(everything),
    collisionCount: deployment.status?.collisionCount,
    conditions,
  });
}

/** Unknown as long as a ReplicaSet that was synced does not say. */
function terminatingReplicas(replicaSets: readonly ReplicaSet[]): number | undefined {
  let total = 0;
  for (const { status } of replicaSets) {
    if (status?.terminatingReplicas !== undefined) total += status.terminatingReplicas;
    else if ((status?.observedGeneration ?? 0) > 0) return undefined;
  }
  return total;
}

/** Adds what the rollout does to a computed status. */
export function withProgress(
  deployment: Deployment,
  { now, sets, status }: { now: number; sets: ReplicaSets; status: DeploymentStatus },
): DeploymentStatus {
  let conditions = status.conditions ?? [];
  const deadline = progressDeadlineOf(deployment);
  const before = findCondition(deployment.status?.conditions, 'Progressing');
  const { current } = sets;
  const subject =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  const settled =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable';
  if (deadline === undefined) conditions = removeCondition(conditions, 'Progressing');
  else if (!settled) {
    const type = 'Progressing' as const;
    if (isComplete(deployment, status)) {
      const message = `${subject} has successfully progressed.`;
      conditions = setCondition(conditions, { type, status: 'True', reason: 'NewReplicaSetAvailable', message }, now);
    } else if (isProgressing(deployment.status, status)) {
      const message = `${subject} is progressing.`;
      conditions = replaceCondition(conditions, { type, status: 'True', reason: 'ReplicaSetUpdated', message }, now);
    } else if (isTimedOut(findCondition(conditions, type), deadline, now)) {
      const message = `${subject} has timed out progressing.`;
      conditions = setCondition(
        conditions,
        { type, status: 'False', reason: 'ProgressDeadlineExceeded', message },
        now,
      );
    }
  }
  return { ...status, conditions: withReplicaFailure(conditions, sets) };
}

/** A failure of the new ReplicaSet, else of any, shows on the Deployment. */
function withReplicaFailure(conditions: readonly DeploymentCondition[], sets: ReplicaSets): DeploymentCondition[] {
  const inOrder = sets.current === undefined ? sets.old : [sets.current, ...sets.old];
  for (const { status } of inOrder) {
    const failure = status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (failure === undefined) continue;
    const known = findCondition(conditions, 'ReplicaFailure');
    if (known?.status === failure.status && known.reason === failure.reason) return [...conditions];
    return [
      ...removeCondition(conditions, 'ReplicaFailure'),
      { ...failure, lastUpdateTime: failure.lastTransitionTime },
    ];
  }
  return removeCondition(conditions, 'ReplicaFailure');
}

export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const replicas = replicasOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === replicas &&
    (status?.replicas ?? 0) === replicas &&
    (status?.availableReplicas ?? 0) === replicas &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function isProgressing(old: DeploymentStatus | undefined, status: DeploymentStatus): boolean {
  const count = (value: number | undefined): number => value ?? 0;
  const oldPods = (of: DeploymentStatus | undefined): number => count(of?.replicas) - count(of?.updatedReplicas);
  return (
    count(status.updatedReplicas) > count(old?.updatedReplicas) ||
    oldPods(status) < oldPods(old) ||
    count(status.readyReplicas) > count(old?.readyReplicas) ||
    count(status.availableReplicas) > count(old?.availableReplicas)
  );
}

/** Once timed out it stays so until there is progress; a finished rollout cannot time out. */
export function isTimedOut(progressing: DeploymentCondition | undefined, deadline: number, now: number): boolean {
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable') return false;
  if (progressing.reason === 'ProgressDeadlineExceeded') return true;
  return (parseTime(progressing.lastUpdateTime) ?? 0) + deadline * 1000 < now;
}

/** Timed out already, or finished and then short of pods again: no time that passes makes that another state. */
const NO_TIME_CHANGES: ReadonlySet<string> = new Set(['ProgressDeadlineExceeded', 'NewReplicaSetAvailable']);

/** When to look whether a rollout got stuck; undefined when it need not be watched. */
export function progressRecheckMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadline = progressDeadlineOf(deployment);
  const progressing = findCondition(deployment.status?.conditions, 'Progressing');
  if (deadline === undefined || progressing === undefined) return undefined;
  if (isComplete(deployment, status) || NO_TIME_CHANGES.has(progressing.reason ?? '')) return undefined;
  const left = (parseTime(progressing.lastUpdateTime) ?? 0) + deadline * 1000 - now;
  // The extra second keeps whole-second timestamps from making the check a moment early.
  return Math.max(left, 0) + 1000;
}

export function isSameStatus(old: DeploymentStatus | undefined, status: DeploymentStatus): boolean {
  return deepEqual(withoutZeros(old ?? {}), withoutZeros(status));
}

/** Zero counts are left out on the wire, save the one whose absence means something. */
function withoutZeros(status: DeploymentStatus): DeploymentStatus {
  const kept = Object.entries(status).filter(([name, value]) => {
    if (name === 'terminatingReplicas' || name === 'collisionCount') return value !== undefined && value !== null;
    return value !== undefined && value !== null && value !== 0 && !(Array.isArray(value) && value.length === 0);
  });
  return Object.fromEntries(kept);
}
