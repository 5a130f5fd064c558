import { isPodAvailable, isPodReady } from '../../../api/core/pod-state.ts';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { scaledValue } from '../../../machinery/values/index.ts';
import { identityMatches, isInRange, ordinalOf, revisionOf, startOrdinal } from './identity.ts';

export type StatefulStep =
  | { readonly do: 'create'; readonly ordinal: number; readonly reason: 'Missing' }
  | { readonly do: 'delete'; readonly pod: Pod; readonly reason: 'Ended' | 'ScaledDown' | 'Outdated' }
  | { readonly do: 'label'; readonly pod: Pod; readonly reason: 'IdentityLost' };

export interface StatefulQuestion {
  readonly set: StatefulSet;
  /** Claimed pods, in any order. */
  readonly pods: readonly Pod[];
  readonly updateRevision: string;
  readonly now: number;
}

const isEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';
const isTerminating = ({ metadata }: Pod): boolean => Boolean(metadata.deletionTimestamp);

/**
 * The steps to take now. Ordered sets (the default) take one step and wait for its outcome:
 *  1. from the lowest ordinal up: delete a pod that ended, create a missing one, and go on only past a pod that is
 *     running, available and not terminating
 *  2. from the highest ordinal down: delete pods beyond the replicas, waiting for each to be gone; an unavailable one
 *     is not waited for when it is the first that is
 *  3. from the highest ordinal down to the partition: delete outdated pods, one at a time (or as many as
 *     maxUnavailable leaves room for)
 * Parallel sets do not wait in 1 and 2.
 */
export function planSteps({ now, pods, set, updateRevision }: StatefulQuestion): StatefulStep[] {
  if (set.metadata.deletionTimestamp) return [];
  const ordered = set.spec?.podManagementPolicy !== 'Parallel';
  const minReady = set.spec?.minReadySeconds ?? 0;
  const start = startOrdinal(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const replicas = Array.from({ length: set.spec?.replicas ?? 1 }, (_, index) => byOrdinal.get(start + index));
  const condemned = pods
    .filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, ordinalOf(pod)))
    .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
  const isUnavailable = (pod: Pod): boolean => !isPodAvailable(pod, minReady, now) || isTerminating(pod);

  const steps: StatefulStep[] = [];
  for (const [index, pod] of replicas.entries()) {
    if (pod === undefined) {
      steps.push({ do: 'create', ordinal: start + index, reason: 'Missing' });
      if (ordered) return steps;
      continue;
    }
    if (isEnded(pod)) {
      if (!isTerminating(pod)) steps.push({ do: 'delete', pod, reason: 'Ended' });
      if (ordered) return steps;
      continue;
    }
    if (ordered && (pod.status?.phase !== 'Running' || !isPodReady(pod) || isUnavailable(pod))) return steps;
    if (!identityMatches(pod)) steps.push({ do: 'label', pod, reason: 'IdentityLost' });
  }

  const firstUnavailable = [...replicas, ...condemned.toReversed()].find(
    (pod) => pod === undefined || isUnavailable(pod),
  );
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (ordered) return steps;
      continue;
    }
    const healthy = pod.status?.phase === 'Running' && isPodReady(pod) && isPodAvailable(pod, minReady, now);
    if (ordered && !healthy && pod !== firstUnavailable) return steps;
    steps.push({ do: 'delete', pod, reason: 'ScaledDown' });
    if (ordered) return steps;
  }

  if (set.spec?.updateStrategy?.type === 'OnDelete') return steps;
  return [...steps, ...updateSteps(set, replicas, { isUnavailable, updateRevision })];
}

function updateSteps(
  set: StatefulSet,
  replicas: readonly (Pod | undefined)[],
  { isUnavailable, updateRevision }: { isUnavailable: (pod: Pod) => boolean; updateRevision: string },
): StatefulStep[] {
  const { maxUnavailable, partition = 0 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  const outdated = (pod: Pod): boolean => revisionOf(pod) !== updateRevision && !isTerminating(pod);
  if (maxUnavailable !== undefined) {
    const limit = Math.max(scaledValue(maxUnavailable, replicas.length, 'down'), 1);
    const down = replicas.filter((pod) => pod === undefined || isUnavailable(pod)).length;
    return replicas
      .slice(partition)
      .toReversed()
      .flatMap((pod) => (pod !== undefined && outdated(pod) ? [pod] : []))
      .slice(0, Math.max(limit - down, 0))
      .map((pod) => ({ do: 'delete', pod, reason: 'Outdated' }));
  }
  for (let index = replicas.length - 1; index >= partition; index -= 1) {
    const pod = replicas[index];
    if (pod === undefined) return [];
    if (outdated(pod)) return [{ do: 'delete', pod, reason: 'Outdated' }];
    if (isUnavailable(pod)) return [];
  }
  return [];
}

/** Which revision a pod of this ordinal is created from. */
export function isCreatedFromCurrent(set: StatefulSet, ordinal: number): boolean {
  const { rollingUpdate, type = 'RollingUpdate' } = set.spec?.updateStrategy ?? {};
  const index = ordinal - startOrdinal(set);
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0);
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0);
}
