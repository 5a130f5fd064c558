import type { Pod } from '../../../api/generated/core-v1.ts';
import type { GroupTerms } from './terms.ts';

export type GroupAdmission =
  | { readonly reason: 'Admitted' }
  | { readonly reason: 'SchedulingGated' | 'WaitingForMembers'; readonly message: string };

/**
 * Whether a group may be tried at all. `members` are all its pods that have not finished, placed or not.
 *
 *  1. a scheduling gate on any pending member holds the whole group
 *  2. a gang with fewer members than it needs is held
 */
export function admitGroup({ name, needed }: GroupTerms, members: readonly Pod[]): GroupAdmission {
  const gated = members.find(({ spec }) => !spec?.nodeName && (spec?.schedulingGates?.length ?? 0) > 0);
  if (gated !== undefined) {
    return { reason: 'SchedulingGated', message: `member "${gated.metadata.name}" of group "${name}" is gated` };
  }
  if (members.length < needed) {
    const message = `group "${name}" has ${members.length} of at least ${needed} members`;
    return { reason: 'WaitingForMembers', message };
  }
  return { reason: 'Admitted' };
}

export type MembersVerdict =
  | { readonly reason: 'Consistent' }
  | {
      readonly reason: 'SchedulerNamesDiffer' | 'PriorityDiffers' | 'PreemptionPoliciesDiffer';
      readonly message: string;
    };

/** Whether the members can be scheduled as one: same scheduler, the group's priority, one preemption policy. */
export function checkMembers(
  { name, preemptionPolicy, priority }: Pick<GroupTerms, 'name' | 'preemptionPolicy' | 'priority'>,
  members: readonly Pod[],
): MembersVerdict {
  const schedulers = new Set(members.map(({ spec }) => spec?.schedulerName ?? 'default-scheduler'));
  if (schedulers.size > 1) {
    const message = `members of group "${name}" name different schedulers: ${[...schedulers].sort().join(', ')}`;
    return { reason: 'SchedulerNamesDiffer', message };
  }
  const odd = members.find(({ spec }) => priority !== undefined && (spec?.priority ?? 0) !== priority);
  if (odd !== undefined) {
    const message = `member "${odd.metadata.name}" has priority ${odd.spec?.priority ?? 0}, group "${name}" has ${priority}`;
    return { reason: 'PriorityDiffers', message };
  }
  const policies = new Set(members.map(({ spec }) => spec?.preemptionPolicy ?? 'PreemptLowerPriority'));
  if (preemptionPolicy !== undefined) policies.add(preemptionPolicy);
  if (policies.size > 1) {
    return {
      reason: 'PreemptionPoliciesDiffer',
      message: `group "${name}" and its members have different preemption policies`,
    };
  }
  return { reason: 'Consistent' };
}
