import type { ResponderStatus } from '../../api/generated/lifecycle-v1alpha1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import type { TargetPod } from './facts.ts';
import { timeFor } from './turns.ts';

const FIRST_RETRY_MS = 5000;
const LAST_RETRY_MS = 15 * 60_000;
/** Responders say that they live no more often than this. */
const HEARTBEAT_MS = 20_000;
const WAITING_HEARTBEAT_MS = 5 * 60_000;

/** What one process knows of its own tries; a successor begins anew, and asks at once. */
export interface Tries {
  readonly count: number;
  readonly nextAt: number;
}

export type DefaultStep =
  | { readonly kind: 'Ask' }
  | { readonly kind: 'Wait'; readonly until: number }
  /** Also before the next try, where `until` is given. */
  | { readonly kind: 'Report'; readonly report: Partial<ResponderStatus>; readonly until?: number };

/**
 * What the default responder does now. First match wins:
 *  1. an eviction would be in vain: it is done
 *  2. the pod is on its way: it waits, and says so now and then
 *  3. nobody wants it gone but a notice of its group: the group goes with that
 *  4. it is too early to ask again
 *  5. it asks
 */
export function defaultStep(
  { going, staysBecause }: TargetPod,
  own: ResponderStatus,
  { isWanted = true, now, tries }: { now: number; tries: Tries | undefined; isWanted?: boolean },
): DefaultStep {
  if (staysBecause !== undefined) {
    return { kind: 'Report', report: { completionTime: timeFor(own, now), message: `not evicted: ${staysBecause}` } };
  }
  if (going || !isWanted) {
    const message = going ? 'the pod was told to go' : 'its group is told that it has to go, and goes as one';
    const due = (parseTime(own.heartbeatTime) ?? 0) + WAITING_HEARTBEAT_MS;
    if (own.message === message && now < due) return { kind: 'Wait', until: due };
    return { kind: 'Report', report: alive(own, now, message), until: now + WAITING_HEARTBEAT_MS };
  }
  return tries !== undefined && now < tries.nextAt ? { kind: 'Wait', until: tries.nextAt } : { kind: 'Ask' };
}

/** After a try: what is said of it, and when the next one is due. */
export function afterTry(
  own: ResponderStatus,
  answer: TryAnswer,
  { now, tries }: { now: number; tries: Tries | undefined },
): { report: Partial<ResponderStatus>; tries: Tries } {
  const next = afterAnother(tries, now);
  const times = next.count === 1 ? '1 try' : `${next.count} tries`;
  const { granted = 'the eviction was granted', refused } = answer;
  const message = refused === undefined ? granted : `refused after ${times}: ${refused}`;
  return { report: alive(own, now, message.slice(0, 4000)), tries: next };
}

/** When it is asked again. */
export function afterAnother(tries: Tries | undefined, now: number): Tries {
  const count = (tries?.count ?? 0) + 1;
  return { count, nextAt: now + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (count - 1)) };
}

/** What came of a try: why it was refused, or what is to be said of a grant. */
export interface TryAnswer {
  readonly refused?: string | undefined;
  readonly granted?: string | undefined;
}

/** A heartbeat, unless the last one is fresh. */
function alive(own: ResponderStatus, now: number, message: string): Partial<ResponderStatus> {
  const heard = parseTime(own.heartbeatTime);
  const isFresh = heard !== undefined && now - heard < HEARTBEAT_MS;
  return isFresh ? { message } : { message, heartbeatTime: timeFor(own, now) };
}
