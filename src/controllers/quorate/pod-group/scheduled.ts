import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import { INITIALLY_SCHEDULED, SCHEDULED, type StoredPodGroup } from '../../../api/scheduling/index.ts';
import type { TermsAnswer } from '../../../decisions/gang/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';

type Standing = Pick<Condition, 'status' | 'reason' | 'message'>;

const IN_PROGRESS = 'InProgress';

/**
 * Whether a group is placed now, in the three states of the proposal. First match wins:
 *  1. what it is made from is missing: False, and says what
 *  2. as many members as it needs have a node: True
 *  3. the scheduler has said why they have none: False, as it said
 *  4. it was whole and has lost members that nobody made again: False
 *  5. otherwise placement is under way: Unknown
 */
export function standingOf(group: StoredPodGroup, pods: readonly Pod[], answer: TermsAnswer): Standing {
  if (answer.reason !== 'Found') return { status: 'False', reason: answer.reason, message: answer.message };
  const members = pods.filter((pod) => !isPodFinished(pod) && !pod.metadata.deletionTimestamp);
  const placed = members.filter(({ spec }) => spec?.nodeName).length;
  const { needed } = answer.terms;
  const message = `${placed} of ${members.length} pods have a node, ${needed} needed`;
  if (placed >= needed) return { status: 'True', reason: 'MinCountSatisfied', message };
  const first = conditionOf(group, INITIALLY_SCHEDULED);
  if (first?.status === 'False' && !isOurs(first)) {
    return { status: 'False', reason: first.reason, message: first.message ?? '' };
  }
  if (first?.status === 'True' && members.length < needed) return { status: 'False', reason: 'MembersLost', message };
  return { status: 'Unknown', reason: IN_PROGRESS, message };
}

/** The conditions of a group that stands so. What the scheduler says of the first time stays as it is. */
export function withStanding(group: StoredPodGroup, standing: Standing, now: number): Condition[] {
  const conditions = group.status?.conditions ?? [];
  const first = conditionOf(group, INITIALLY_SCHEDULED);
  const types = first === undefined || (isOurs(first) && standing.status !== 'True') ? [INITIALLY_SCHEDULED] : [];
  const wanted = [...(standing.status === 'True' ? [] : types), SCHEDULED].map((type) => {
    const old = conditionOf(group, type);
    return {
      type,
      ...standing,
      lastTransitionTime: old?.status === standing.status ? old.lastTransitionTime : formatTime(now),
      ...(group.metadata.generation !== undefined && { observedGeneration: group.metadata.generation }),
    };
  });
  const replaced = new Set(wanted.map(({ type }) => type));
  return [...conditions.filter(({ type }) => !replaced.has(type)), ...wanted];
}

/** Written here and not by the scheduler. */
const isOurs = ({ reason }: Condition): boolean => reason === IN_PROGRESS || reason.endsWith('Missing');

const conditionOf = (group: StoredPodGroup, wanted: string): Condition | undefined =>
  group.status?.conditions?.find(({ type }) => type === wanted);
