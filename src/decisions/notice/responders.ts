import type { Eviction, ResponderStatus, TargetResponder } from '../../api/generated/lifecycle-v1alpha1.ts';
import { DEFAULT_RESPONDER } from '../../api/lifecycle/index.ts';
import type { NoticeTerms } from '../../api/quorate/disruption-policy.ts';
import type { ChannelWord } from './members.ts';

/** The responder that speaks for a group that is told by EvictionRequests; undefined where its pods' own ones do. */
export function responderOf({ acknowledgement, channels = [] }: NoticeTerms): string | undefined {
  const isAsked = acknowledgement?.from === 'Responder' && channels.some(({ type }) => type === 'EvictionRequest');
  return isAsked ? acknowledgement.responder : undefined;
}

/** What the Eviction of a member says of those who respond for it. */
interface HeardOfPod {
  readonly word?: ChannelWord | undefined;
  /** There is nobody who could be told. */
  readonly failed: boolean;
}

/**
 * A member has acknowledged when the one that speaks for its group has completed, or where there is none everybody but the
 * default responder; who was silent for too long has had its turn as well. First match wins:
 *  1. nobody had a turn yet: nothing is known
 *  2. there is nobody to tell
 *  3. all are done: acknowledged
 *  4. one has its turn, or had it: told
 */
export function hearPod(eviction: Eviction | undefined, responder: string | undefined): HeardOfPod {
  const { responders = [], targetResponders = [] } = eviction?.status ?? {};
  if (targetResponders.length === 0) return { failed: false };
  const isAsked = ({ name }: TargetResponder): boolean =>
    responder === undefined ? name !== DEFAULT_RESPONDER : name === responder;
  const asked = targetResponders.filter(isAsked);
  if (asked.length === 0) return { failed: true };
  const reportOf = ({ name }: TargetResponder): ResponderStatus | undefined =>
    responders.find((one) => one.name === name);
  const isDone = (one: TargetResponder): boolean =>
    one.state === 'Completed' ||
    one.state === 'Interrupted' ||
    (one.state === 'Active' && reportOf(one)?.completionTime !== undefined);
  if (asked.every(isDone)) {
    const silent = asked.find(({ state }) => state === 'Interrupted');
    const message = silent && `${silent.name} was silent for too long`;
    return { word: { via: 'EvictionRequest', state: 'Acknowledged', message }, failed: false };
  }
  const active = asked.find(({ state }) => state === 'Active');
  if (active === undefined && !asked.some(isDone)) return { failed: false };
  const message = active && reportOf(active)?.message;
  return { word: { via: 'EvictionRequest', state: 'Told', message }, failed: false };
}
