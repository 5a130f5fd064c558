import { isPodAvailable, isPodReady } from '../../../api/core/pod-state.ts';
import type { StatefulSet, StatefulSetStatus } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { StatefulStep } from './plan.ts';
import { ordinalOf, revisionOf } from './identity.ts';

export interface StatefulSetObservation {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  /** Taken in this pass. */
  readonly steps: readonly StatefulStep[];
  readonly now: number;
}

export function computeStatus(input: StatefulSetObservation): StatefulSetStatus {
  const { collisionCount, now, set, steps, updateRevision } = input;
  const minReady = set.spec?.minReadySeconds ?? 0;
  const created = input.pods.filter((pod) => Boolean(pod.status?.phase) && ordinalOf(pod) >= 0);
  const staying = created.filter(({ metadata }) => !metadata.deletionTimestamp);
  const running = created.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const outdated = steps.filter((step) => step.do === 'delete' && step.reason === 'Outdated').length;
  const status: StatefulSetStatus = {
    observedGeneration: set.metadata.generation,
    replicas: created.length,
    readyReplicas: running.length,
    availableReplicas: running.filter((pod) => isPodAvailable(pod, minReady, now)).length,
    currentReplicas: staying.filter((pod) => revisionOf(pod) === input.currentRevision).length - outdated,
    updatedReplicas: staying.filter((pod) => revisionOf(pod) === updateRevision).length,
    currentRevision: input.currentRevision,
    updateRevision,
    collisionCount,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
  return isRolledOut(set, status)
    ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: updateRevision }
    : status;
}

function isRolledOut({ spec }: StatefulSet, { readyReplicas, replicas, updatedReplicas }: StatefulSetStatus): boolean {
  const wanted = spec?.replicas ?? 1;
  const rolling = (spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  return rolling && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted;
}

const COUNTS = ['replicas', 'readyReplicas', 'availableReplicas', 'currentReplicas', 'updatedReplicas'] as const;

/** Absent counts and zero are the same thing on the wire. */
export function isSameStatus(old: StatefulSetStatus | undefined, status: StatefulSetStatus): boolean {
  return (
    COUNTS.every((name) => (old?.[name] ?? 0) === (status[name] ?? 0)) &&
    (old?.observedGeneration ?? 0) >= (status.observedGeneration ?? 0) &&
    old?.currentRevision === status.currentRevision &&
    old?.updateRevision === status.updateRevision &&
    (old?.collisionCount ?? 0) === (status.collisionCount ?? 0)
  );
}
