import { isPodAvailable, isPodReady, podAvailableAt } from '../../../api/core/pod-state.ts';
import type { ReplicaSetCondition, ReplicaSetStatus } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { deepEqual, formatTime } from '../../../machinery/values/index.ts';
import type { ReplicaOwner } from './kind.ts';

export interface ReplicaSetObservation {
  readonly owner: ReplicaOwner;
  readonly templateLabels: Readonly<Record<string, string>> | undefined;
  /** Claimed active pods, as they were before this pass created or deleted any. */
  readonly pods: readonly Pod[];
  /** Undefined for kinds that do not report it. */
  readonly terminating: number | undefined;
  /** What creating or deleting pods failed with. */
  readonly failure: Error | undefined;
  readonly now: number;
}

export function computeStatus(input: ReplicaSetObservation): ReplicaSetStatus {
  const { now, owner, pods, templateLabels = {}, terminating } = input;
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  const wanted = Object.entries(templateLabels);
  let fullyLabeled = 0;
  let ready = 0;
  let available = 0;
  for (const pod of pods) {
    const labels = pod.metadata.labels ?? {};
    if (wanted.every(([name, value]) => labels[name] === value)) fullyLabeled += 1;
    if (!isPodReady(pod)) continue;
    ready += 1;
    if (isPodAvailable(pod, minReadySeconds, now)) available += 1;
  }
  const conditions = nextConditions(input);
  return {
    replicas: pods.length,
    fullyLabeledReplicas: fullyLabeled,
    readyReplicas: ready,
    availableReplicas: available,
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    observedGeneration: owner.metadata.generation,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** A failure is reported once and stays as first reported until a pass without failure. */
function nextConditions({ failure, now, owner, pods }: ReplicaSetObservation): ReplicaSetCondition[] {
  const conditions = owner.status?.conditions ?? [];
  const known = conditions.some(({ type }) => type === 'ReplicaFailure');
  if (failure === undefined) return known ? conditions.filter(({ type }) => type !== 'ReplicaFailure') : conditions;
  if (known) return conditions;
  return [
    ...conditions,
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: formatTime(now),
      reason: pods.length < (owner.spec?.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete',
      message: failure.message,
    },
  ];
}

/** Absent counts and zero are the same thing on the wire. */
export function isSameStatus(old: ReplicaSetStatus | undefined, status: ReplicaSetStatus): boolean {
  return (
    (old?.replicas ?? 0) === status.replicas &&
    (old?.fullyLabeledReplicas ?? 0) === (status.fullyLabeledReplicas ?? 0) &&
    (old?.readyReplicas ?? 0) === (status.readyReplicas ?? 0) &&
    (old?.availableReplicas ?? 0) === (status.availableReplicas ?? 0) &&
    old?.terminatingReplicas === status.terminatingReplicas &&
    (old?.observedGeneration ?? 0) === (status.observedGeneration ?? 0) &&
    deepEqual(old?.conditions ?? [], status.conditions ?? [])
  );
}

/** When to look again because a Ready pod becomes available by waiting alone; undefined when none will. */
export function availabilityRecheckMs(
  { pods, owner, now }: Pick<ReplicaSetObservation, 'pods' | 'owner' | 'now'>,
  status: ReplicaSetStatus,
): number | undefined {
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  if (minReadySeconds === 0 || status.readyReplicas === status.availableReplicas) return undefined;
  let earliest = Number.POSITIVE_INFINITY;
  for (const pod of pods) {
    const at = podAvailableAt(pod, minReadySeconds);
    if (at !== undefined && at > now && at < earliest) earliest = at;
  }
  return Number.isFinite(earliest) ? earliest - now : minReadySeconds * 1000;
}
