import type { Pod } from '../../../api/generated/core-v1.ts';
import type { NoticeChannel } from '../../../api/quorate/disruption-policy.ts';
import type { GroupEviction } from '../../../api/quorate/group-eviction.ts';
import type { GroupNotice } from '../../../api/quorate/notice.ts';
import type { ChannelWord } from '../../../decisions/notice/index.ts';

/** A notice, and the members that are there, at one look. */
export interface NoticeCall {
  readonly eviction: GroupEviction;
  readonly notice: GroupNotice;
  readonly pods: readonly Pod[];
  /** The pod that speaks for the group. */
  readonly leader: string | undefined;
  /** Until the deadline, as time has passed. */
  readonly leftMs: number;
}

/** How far a channel is. */
export interface Delivery {
  /** What is known of members, by uid. */
  readonly words: ReadonlyMap<string, readonly ChannelWord[]>;
  /** Final, for every member. */
  readonly failed: boolean;
}

/**
 * A way of telling members. `deliver` comes with every look at a notice: it goes on with what is not done, and says how far
 * it is. What takes its time is done behind it, and wakes the notice when it knows more.
 */
export interface Channel {
  deliver(call: NoticeCall, channel: NoticeChannel, at: number): Promise<Delivery>;
  /** Nobody goes: those who were told are told so. */
  withdraw?(call: NoticeCall, channel: NoticeChannel, at: number): Promise<void>;
  /** The notice is over: what is kept of it is dropped. */
  forget?(id: string): void;
}

/** One row for each type of channel. A type without one cannot be told by here, and counts as failed. */
export type Channels = Readonly<Partial<Record<NoticeChannel['type'], Channel>>>;

const BY_POD: readonly NoticeChannel[] = [{ type: 'Pod' }];

export const channelsOf = ({ terms: { channels = [] } }: GroupNotice): readonly NoticeChannel[] =>
  channels.length === 0 ? BY_POD : channels;

/** What all channels together know. */
export async function deliverAll(channels: Channels, call: NoticeCall): Promise<Delivery> {
  const words = new Map<string, ChannelWord[]>();
  let failed = true;
  for (const [at, channel] of channelsOf(call.notice).entries()) {
    const delivery = await channels[channel.type]?.deliver(call, channel, at);
    if (delivery === undefined) continue;
    failed &&= delivery.failed;
    for (const [uid, said] of delivery.words) words.set(uid, [...(words.get(uid) ?? []), ...said]);
  }
  return { words, failed };
}
