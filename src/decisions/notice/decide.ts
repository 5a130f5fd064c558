import type { NoticeTerms } from '../../api/quorate/disruption-policy.ts';
import type { GroupNotice, NoticeMember, NoticeState } from '../../api/quorate/notice.ts';
import type { NoticePod } from './facts.ts';
import { type ChannelWord, isDone, nextMembers } from './members.ts';

/** Budgets that do not let a group go that was told are asked for so long. */
export const HELD_MS = 600_000;

export interface NoticeFacts {
  readonly notice: GroupNotice;
  readonly pods: readonly NoticePod[];
  /** What channels other than the pods themselves have heard, by uid. */
  readonly words: ReadonlyMap<string, readonly ChannelWord[]>;
  /** Every channel has failed for good, for every member. */
  readonly undelivered: boolean;
  /** Somebody still wants the group gone. */
  readonly wanted: boolean;
  /** The first pod was told to go. */
  readonly begun: boolean;
  /** Until the deadline, as time has passed: a clock that is set does not change it. */
  readonly leftMs: number;
  readonly now: number;
  /** How long budgets have not let it go, as time has passed. */
  readonly heldMs?: number | undefined;
}

/** What ends a notice without anybody going. */
export type NoticeRefusal = 'Withdrawn' | 'Superseded' | 'NoticeUndelivered' | 'HeldTooLong';

export type NoticeVerdict =
  /** The group goes now, as one. */
  | { readonly kind: 'Go'; readonly state: Extract<NoticeState, 'Done' | 'TimedOut'> }
  /** Nothing goes, and what was reserved is given back. */
  | { readonly kind: 'End'; readonly state: NoticeState; readonly reason: NoticeRefusal; readonly message: string }
  | { readonly kind: 'Wait'; readonly state: NoticeState; readonly forMs: number };

export interface NoticeDecision {
  readonly members: readonly NoticeMember[];
  readonly verdict: NoticeVerdict;
}

/**
 * What becomes of a notice. Rules, first match wins:
 *  1. the first pod went: the others follow, whatever is said by now
 *  2. nobody wants the group gone any more: it stays
 *  3. no member is left: there is nothing to do
 *  4. budgets have held it for too long: it stays
 *  5. those whose word counts have acknowledged: it goes
 *  6. its time has passed: it goes
 *  7. nobody can be told, and its policy says not to go on then: it stays
 *  8. it is waited for, to the deadline at the latest
 */
export function decideNotice(facts: NoticeFacts): NoticeDecision {
  const { notice } = facts;
  const before = notice.members ?? [];
  if (facts.begun) return { members: before, verdict: { kind: 'Go', state: endedAs(notice) } };
  const members = nextMembers(before, facts);
  return { members, verdict: judge(facts, members) };
}

function judge(facts: NoticeFacts, members: readonly NoticeMember[]): NoticeVerdict {
  const { heldMs, leftMs, notice, pods, undelivered, wanted } = facts;
  if (!wanted) {
    const message = 'nobody wants the group gone any more: it stays';
    return { kind: 'End', state: 'Withdrawn', reason: 'Withdrawn', message };
  }
  if (pods.length === 0) {
    return { kind: 'End', state: 'Superseded', reason: 'Superseded', message: 'no member of the group is left' };
  }
  if (heldMs !== undefined && heldMs >= HELD_MS) {
    const message = 'budgets have not let the group go for 10 minutes: it stays';
    return { kind: 'End', state: 'Withdrawn', reason: 'HeldTooLong', message };
  }
  if (heldMs !== undefined) return { kind: 'Go', state: isMet(facts, members) ? 'Done' : 'TimedOut' };
  if (isMet(facts, members)) return { kind: 'Go', state: 'Done' };
  if (leftMs <= 0) return { kind: 'Go', state: 'TimedOut' };
  if (undelivered && notice.terms.onUndelivered === 'Refuse') {
    const message = 'no member could be told, and the policy does not let the group go then';
    return { kind: 'End', state: 'Undelivered', reason: 'NoticeUndelivered', message };
  }
  return { kind: 'Wait', state: undelivered ? 'Undelivered' : 'Running', forMs: leftMs };
}

/** Whether those have acknowledged whose word ends the notice before its time. */
function isMet({ notice: { terms }, pods }: NoticeFacts, members: readonly NoticeMember[]): boolean {
  switch (sourceOf(terms)) {
    case 'Nobody':
      return false;
    case 'Responder':
      return members.every((one) => isDone(one) && (one.state !== 'Acknowledged' || one.via === 'EvictionRequest'));
    case 'Leader': {
      const leaders = new Set(pods.filter(({ isLeader }) => isLeader).map(({ uid }) => uid));
      return leaders.size === 0 ? members.every(isDone) : members.every((one) => !leaders.has(one.uid) || isDone(one));
    }
    default:
      return members.every(isDone);
  }
}

const sourceOf = ({ acknowledgement }: NoticeTerms) => acknowledgement?.from ?? 'AllMembers';

const endedAs = ({ state }: GroupNotice): 'Done' | 'TimedOut' => (state === 'Done' ? 'Done' : 'TimedOut');

/** A notice that may still be acknowledged or withdrawn. */
export function isRunning(notice: Pick<GroupNotice, 'state'> | undefined): boolean {
  return notice !== undefined && ['Running', 'Undelivered', 'Held'].includes(notice.state);
}
