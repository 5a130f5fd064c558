import { formatAge } from '../../machinery/values/index.ts';
import type { CountedPod, DisruptionIndex, KnownNotice, NoticeQuestion } from '../disruption/index.ts';
import type { Refused } from '../refusal-status.ts';
import { wholeSeconds } from './start.ts';

/** A group that nobody could tell is not told again for so long. */
const TRY_AGAIN_MS = 60_000;

/** What a plain eviction of a member comes to under notice. */
export type NoticeAnswer =
  /** It goes like any other. */
  | { readonly kind: 'None' }
  | { readonly kind: 'Running'; readonly notice: KnownNotice }
  | { readonly kind: 'Undelivered'; readonly notice: KnownNotice }
  /** Its group has to be told first. */
  | { readonly kind: 'Due'; readonly policy: NonNullable<NoticeQuestion['policy']> };

/**
 * What notice says of the eviction of one pod, after all budgets and limits have agreed. Rules, first match wins:
 *  1. a pod that no budget protects goes: it takes nothing along
 *  2. the group is told right now: it waits for that
 *  3. no policy wants notice, or nothing whole goes down: it goes
 *  4. nobody could be told a moment ago, and the policy does not go on then
 *  5. the group is told first
 */
export function noticeBefore(question: NoticeQuestion | undefined, isExempt: boolean, now: number): NoticeAnswer {
  if (question === undefined || isExempt) return { kind: 'None' };
  const { disrupts, policy, running, undelivered } = question;
  if (running !== undefined) return { kind: 'Running', notice: running };
  if (policy === undefined || !disrupts) return { kind: 'None' };
  if (undelivered !== undefined && (undelivered.undeliveredAt ?? 0) + TRY_AGAIN_MS > now) {
    return { kind: 'Undelivered', notice: undelivered };
  }
  return { kind: 'Due', policy };
}

/** The notice of a group that is to go as one. */
export interface NoticeOfGroup {
  readonly group: string;
  readonly running: KnownNotice | undefined;
  readonly policy: NoticeQuestion['policy'];
}

/** Which notice a group is under, or is due: of several policies over its members, that with the longest time. */
export function noticeOfGroup(index: DisruptionIndex, members: readonly CountedPod[]): NoticeOfGroup | undefined {
  let found: NoticeOfGroup | undefined;
  for (const { name, namespace } of members) {
    const question = index.noticeOn(namespace, name);
    if (question === undefined) return undefined;
    const { group, policy, running } = question;
    if (running !== undefined) return { group, running, policy };
    const isLonger = (policy?.durationMs ?? -1) > (found?.policy?.durationMs ?? -1);
    if (found === undefined || isLonger) found = { group: found?.group ?? group, running, policy };
  }
  return found?.policy === undefined ? undefined : found;
}

/** The answer to a plain eviction of a member. Drains ask again. */
export function noticeRefusal(
  kind: 'Running' | 'Undelivered',
  { deadline, eviction, group }: Pick<KnownNotice, 'deadline' | 'eviction' | 'group'>,
  namespace: string,
): Refused {
  const name = `${namespace}/${group}`;
  const running = `Cannot evict pod: ${name} is told that it has to go, and goes as one when it has acknowledged, at the latest at ${wholeSeconds(deadline)} (GroupEviction ${eviction})`;
  const undelivered = `Cannot evict pod: no member of ${name} could be told that it has to go, and its policy does not let it go then (GroupEviction ${eviction})`;
  const message = kind === 'Running' ? running : undelivered;
  const reason = kind === 'Running' ? 'NoticeRunning' : 'NoticeUndelivered';
  return {
    code: 429,
    reason: 'TooManyRequests',
    message,
    causes: [
      { reason, message },
      ...(kind === 'Running' ? [{ reason: 'policy.quorate.dev/next-allowed', message: wholeSeconds(deadline) }] : []),
    ],
  };
}

/** What a dry run is told. */
export function noticeWarning({ durationMs, name }: NonNullable<NoticeQuestion['policy']>, group: string): string {
  return `${group} would be told first, by DisruptionPolicy ${name}: it would have ${formatAge(durationMs)}`;
}
