import { isPodAvailable, isPodReady } from '../../../api/core/pod-state.ts';
import type { DaemonSetStatus } from './kinds.ts';
import { byAge, type DaemonQuestion } from './plan.ts';
import { isUpToDate } from './template.ts';

export function computeStatus(
  { fit, hash, nodes, now, podsByNode, set }: DaemonQuestion,
  { collisionCount, observed }: { collisionCount: number; observed: boolean },
): DaemonSetStatus {
  let desired = 0;
  let current = 0;
  let misscheduled = 0;
  let ready = 0;
  let updated = 0;
  let available = 0;
  for (const node of nodes) {
    const pods = podsByNode.get(node.metadata.name ?? '') ?? [];
    if (!fit(node).shouldRun) {
      if (pods.length > 0) misscheduled += 1;
      continue;
    }
    desired += 1;
    const pod = pods.toSorted(byAge)[0];
    if (pod === undefined) continue;
    current += 1;
    if (isPodReady(pod)) ready += 1;
    if (isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now)) available += 1;
    if (isUpToDate(set, pod, hash)) updated += 1;
  }
  return {
    ...(set.status?.conditions && { conditions: set.status.conditions }),
    ...(collisionCount > 0 && { collisionCount }),
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    observedGeneration: observed ? set.metadata.generation : set.status?.observedGeneration,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
  'observedGeneration',
] as const;

/** Absent counts and zero are the same thing on the wire. */
export function isSameStatus(old: DaemonSetStatus | undefined, status: DaemonSetStatus): boolean {
  return COUNTS.every((name) => (old?.[name] ?? 0) === (status[name] ?? 0));
}
