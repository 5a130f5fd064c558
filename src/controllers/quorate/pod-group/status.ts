import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import { INITIALLY_SCHEDULED, type StoredPodGroup, type StoredPodGroupStatus } from '../../../api/scheduling/index.ts';
import type { TermsAnswer } from '../../../decisions/gang/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { standingOf, withStanding } from './scheduled.ts';

export interface PodGroupStatusQuestion {
  readonly group: StoredPodGroup;
  readonly pods: readonly Pod[];
  readonly now: number;
  /** Members that must have a node; absent when this controller leaves the condition to the scheduler. */
  readonly needed?: number | undefined;
  /** What the group is made from, where its condition follows it. */
  readonly follows?: TermsAnswer | undefined;
}

/**
 * How many members have a node and, where no scheduler of groups says it, whether that is enough. The condition tells
 * of the first time: once True it stays.
 */
export function computeStatus({ follows, group, needed, now, pods }: PodGroupStatusQuestion): StoredPodGroupStatus {
  const scheduledPods = pods.filter((pod) => !isPodFinished(pod) && pod.spec?.nodeName).length;
  const conditions = group.status?.conditions ?? [];
  const status = { ...group.status, scheduledPods };
  if (follows !== undefined) {
    return { ...status, conditions: withStanding(group, standingOf(group, pods, follows), now) };
  }
  if (needed === undefined) return status;
  const old = conditions.find(({ type }) => type === INITIALLY_SCHEDULED);
  if (old?.status === 'True') return status;
  const enough = scheduledPods >= needed;
  const condition: Condition = {
    type: INITIALLY_SCHEDULED,
    status: enough ? 'True' : 'False',
    reason: enough ? 'Scheduled' : 'Unschedulable',
    message: `${scheduledPods} pods have a node, ${needed} needed`,
    lastTransitionTime: old?.status === (enough ? 'True' : 'False') ? old.lastTransitionTime : formatTime(now),
    ...(group.metadata.generation !== undefined && { observedGeneration: group.metadata.generation }),
  };
  return { ...status, conditions: [...conditions.filter(({ type }) => type !== INITIALLY_SCHEDULED), condition] };
}
