import type { MemberState, NoticeMember } from '../../api/quorate/notice.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { NoticePod } from './facts.ts';

/** What a channel heard or knows of a member beside what its pod says. */
export interface ChannelWord {
  readonly via: string;
  readonly state: 'Told' | 'Acknowledged';
  readonly message?: string | undefined;
}

export interface Heard {
  readonly pods: readonly NoticePod[];
  /** By uid. */
  readonly words: ReadonlyMap<string, readonly ChannelWord[]>;
  readonly now: number;
}

/**
 * Brings the members to what is seen now: who is gone stays listed and counts as done, who joins is told and waited for
 * whatever its state. What was acknowledged stays so.
 */
export function nextMembers(before: readonly NoticeMember[], { now, pods, words }: Heard): NoticeMember[] {
  const there = new Map(pods.map((pod) => [pod.uid, pod]));
  const known = new Set(before.map(({ uid }) => uid));
  const joined = pods
    .filter(({ uid }) => !known.has(uid))
    .map(({ name, uid }): NoticeMember => ({ name, uid, state: 'Untold', at: formatTime(now) }));
  return [...before, ...joined].map((member) => {
    const pod = there.get(member.uid);
    return pod === undefined ? moved(member, { state: 'Gone' }, now) : look(member, pod, words.get(member.uid), now);
  });
}

function look(member: NoticeMember, pod: NoticePod, words: readonly ChannelWord[] = [], now: number): NoticeMember {
  const answer = words.find(({ state }) => state === 'Acknowledged');
  const told = words.find(({ state }) => state === 'Told');
  if (answer !== undefined) return moved(member, answer, now);
  if (pod.acknowledged) return moved(member, { state: 'Acknowledged', via: 'Pod' }, now);
  if (member.state === 'Acknowledged' || member.state === 'Excused') return member;
  if (told !== undefined) return moved(member, told, now);
  return pod.isTold && member.state === 'Untold' ? moved(member, { state: 'Told', via: 'Pod' }, now) : member;
}

function moved(
  member: NoticeMember,
  { message, state, via }: { state: MemberState; via?: string | undefined; message?: string | undefined },
  now: number,
): NoticeMember {
  const isSame = (was: string | undefined, is: string | undefined): boolean => is === undefined || was === is;
  if (member.state === state && isSame(member.message, message) && isSame(member.via, via)) return member;
  const { name, uid } = member;
  const at = member.state === state ? member.at : formatTime(now);
  return { name, uid, state, at, ...(via !== undefined && { via }), ...(message !== undefined && { message }) };
}

/** A member that nobody waits for any more. */
export const isDone = ({ state }: NoticeMember): boolean =>
  state === 'Acknowledged' || state === 'Excused' || state === 'Gone';
