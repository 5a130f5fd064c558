import type { NoticeTerms } from '../../api/quorate/disruption-policy.ts';
import type { GroupEvictionStatus } from '../../api/quorate/group-eviction.ts';
import { NOTICED } from '../../api/quorate/group-eviction.ts';
import type { EvictionCause, GroupNotice, NoticeAnnotation, NoticeMember } from '../../api/quorate/notice.ts';
import { formatMicroTime, formatTime, parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import { setCondition } from '../disruption/conditions.ts';

/** Pods must be gone so long before somebody takes them without asking. */
const FOREIGN_MARGIN_MS = 30_000;

export interface NoticeStart {
  readonly id: string;
  readonly group: string;
  readonly policy: string;
  readonly terms: NoticeTerms;
  readonly now: number;
  readonly members: readonly { readonly name: string; readonly uid: string; readonly isUp: boolean }[];
  /** The GroupEviction that begins it. */
  readonly requester: string;
  /** When somebody takes the pods without asking any budget, and the longest time that one of them needs to stop. */
  readonly foreign?: { readonly deadline: number; readonly graceMs: number } | undefined;
}

/** The notice as it begins: nobody is told yet. Whoever is not up then is not waited for. */
export function startNotice(start: NoticeStart): GroupNotice {
  const { foreign, group, id, now, policy, requester, terms } = start;
  const full = now + (parseDurationMs(terms.duration) ?? 0);
  const cut = foreign === undefined ? full : Math.min(full, foreign.deadline - foreign.graceMs - FOREIGN_MARGIN_MS);
  return {
    id,
    group,
    policy,
    startedAt: formatMicroTime(now),
    deadline: formatMicroTime(Math.max(now, cut)),
    state: 'Running',
    members: start.members.map(
      ({ isUp, name, uid }): NoticeMember => ({
        name,
        uid,
        state: isUp ? 'Untold' : 'Excused',
        at: formatTime(now),
      }),
    ),
    requesters: [{ name: requester }],
    terms,
  };
}

/** What the status of the GroupEviction says when its notice begins. */
export function noticedStatus(notice: GroupNotice, now: number): GroupEvictionStatus {
  const condition = {
    type: NOTICED,
    status: 'True',
    reason: 'NoticeRunning',
    message: `the group goes when it has acknowledged, at the latest at ${wholeSeconds(notice.deadline)}`,
  };
  return { notice, conditions: setCondition([], condition, now) };
}

/** What that of one says that joins a notice under way. */
export function joinedStatus(
  first: string,
  { deadline }: Pick<GroupNotice, 'deadline'>,
  now: number,
): GroupEvictionStatus {
  const message = `shares the notice of ${first}, which ends at the latest at ${wholeSeconds(deadline)}`;
  return {
    joined: first,
    conditions: setCondition([], { type: NOTICED, status: 'True', reason: 'Joined', message }, now),
  };
}

/** What each member finds on its pod. */
export function annotationOf(
  { deadline, group, id }: GroupNotice,
  about: {
    readonly namespace: string;
    readonly reason?: string | undefined;
    readonly cause?: EvictionCause | undefined;
    readonly leader?: string | undefined;
  },
): NoticeAnnotation {
  const { cause, leader, namespace, reason = '' } = about;
  return {
    id,
    group: `${namespace}/${group}`,
    deadline,
    reason,
    ...(cause !== undefined && { cause }),
    ...(leader !== undefined && { leader }),
  };
}

export const wholeSeconds = (time: string): string => formatTime(parseTime(time) ?? 0);
