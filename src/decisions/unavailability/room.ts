import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../api/kruise/types.ts';
import { readReserveMs } from '../../api/quorate/reserve-time.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { keepPlaces } from '../disruption/judge.ts';
import {
  type FoundRoom,
  lostRoomOf,
  PROMISED_MS,
  type RoomAnswer,
  type RoomAsk,
  type RoomJudge,
} from '../disruption/room.ts';
import type { IndexedBudget } from './budget-index.ts';
import type { UnavailabilityVerdict } from './decide.ts';
import type { CoveredPod } from './tally.ts';

/** Where places for a unit are looked for. */
export interface RoomLook {
  /** Undefined where nobody knows the nodes: then nothing is taken down that asks for room. */
  readonly judge: RoomJudge | undefined;
  /** Nodes that a drain is about to cordon. */
  readonly closing?: readonly string[] | undefined;
}

/** Whether a budget lets a unit go down only while all of it finds places. What is not understood counts as that. */
export function asksForRoom({ spec }: PodUnavailableBudget): boolean {
  return spec?.capacityPolicy !== undefined && spec.capacityPolicy.mode !== 'Ignore';
}

/** Who wants room held, and how; undefined where a budget is content with finding it. */
function holdOf({ metadata, spec }: PodUnavailableBudget): FoundRoom['hold'] {
  const { onReserveFailure, reserveFor } = spec?.capacityPolicy ?? {};
  const forMs = reserveFor === undefined ? undefined : readReserveMs(reserveFor);
  if (forMs === undefined) return undefined;
  const { group, kind, version } = POD_UNAVAILABLE_BUDGETS;
  const { name = '', namespace = '', uid = '' } = metadata;
  return {
    budget: { apiVersion: `${group}/${version}`, kind, namespace, name, uid },
    reserve: { forMs, onFailure: onReserveFailure === 'Proceed' ? 'Proceed' : 'Refuse', low: false },
  };
}

type Allowed = Extract<UnavailabilityVerdict, { allowed: true }>;

/**
 * Looks for room before an eviction that takes a unit below what it needs: the pod's group, or the pod alone where the
 * budget counts pods. It is asked once more for further members of a group while nothing of it has begun to go.
 */
export function lookForRoom(
  entry: IndexedBudget,
  podName: string,
  { look, nowMs, verdict }: { look: RoomLook; nowMs: number; verdict: Allowed },
): UnavailabilityVerdict {
  const { budget, tally } = entry;
  const pod = tally.pods.get(podName);
  if (!asksForRoom(budget) || pod === undefined || !takesDown(entry, pod, verdict)) return verdict;
  const ask = askFor(entry, pod, { nowMs, closing: look.closing });
  const lost = lostRoomOf(budget.status?.conditions);
  const answer: RoomAnswer =
    lost !== undefined
      ? { found: false, reason: 'NoRoom', text: lost }
      : (look.judge?.ask(ask) ?? {
          found: false,
          reason: 'CannotTell',
          text: 'CannotTell: the nodes are not known here',
        });
  // Recorded, so that other replicas know of it, also by a budget that asks for nothing else.
  if (answer.found) {
    const hold = holdOf(budget);
    return { ...verdict, record: true, room: { ask, where: answer.where, ...(hold && { hold }) } };
  }
  const { reason, retryAfterSeconds, text } = answer;
  const name = JSON.stringify(budget.metadata.name ?? '');
  const message = `podunavailablebudget.policy.kruise.io ${name} is forbidden: ${text}`;
  return { allowed: false, reason, message, room: text, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/** Under a budget that asks for nothing but room, groups are looked at themselves. */
function takesDown(entry: IndexedBudget, pod: CoveredPod, { reason }: Allowed): boolean {
  if (reason === 'WithinBudget') return true;
  const group = pod.group === undefined ? undefined : entry.tally.group(pod.group);
  if (reason === 'NothingDesired' && (group === undefined || group.ready === group.needed)) return true;
  const isDown = reason === 'GroupAlreadyUnavailable' || reason === 'NothingDesired';
  if (!isDown || group === undefined || group.ready > group.needed) return false;
  const members = membersOf(entry, pod);
  return members.every(({ active }) => active) && members.filter(({ serving }) => serving).length >= group.needed;
}

/** The pods of a pod's group, itself among them; itself alone where it is in none. */
function membersOf({ tally }: IndexedBudget, pod: CoveredPod): CoveredPod[] {
  return pod.group === undefined ? [pod] : [...tally.pods.values()].filter(({ group }) => group === pod.group);
}

function askFor(
  entry: IndexedBudget,
  pod: CoveredPod,
  { closing = [], nowMs }: { nowMs: number; closing?: readonly string[] | undefined },
): RoomAsk {
  const namespace = entry.budget.metadata.namespace ?? '';
  return {
    pod: { namespace, name: pod.name },
    members: membersOf(entry, pod).map(({ name, uid }) => ({ namespace, name, uid })),
    unit: `${namespace}/${pod.group ?? pod.name}`,
    now: nowMs,
    closing,
  };
}

/** A question for each unit under a budget of which nothing is on its way out; undefined where it asks for no room. */
export function roomAsksOf(entry: IndexedBudget, nowMs: number): RoomAsk[] | undefined {
  if (!asksForRoom(entry.budget)) return undefined;
  const asks = new Map<string, RoomAsk>();
  const going = new Set<string>();
  for (const pod of entry.tally.pods.values()) {
    const unit = pod.group ?? pod.name;
    if (!pod.active) going.add(unit);
    else if (!asks.has(unit)) asks.set(unit, askFor(entry, pod, { nowMs }));
  }
  return [...asks].flatMap(([unit, ask]) => (going.has(unit) ? [] : [ask]));
}

/** Keeps the room that grants rest on from other units, until they are back or the time is over. */
export function keepFoundRoom(
  judge: RoomJudge | undefined,
  rooms: readonly FoundRoom[],
  nowMs: number,
  held?: ReadonlySet<FoundRoom>,
): void {
  for (const room of rooms) keepPlaces(judge, room, nowMs, held?.has(room));
}

/** The rooms to hold: where several budgets want one unit's held, the one that wants it for the longest. */
export function roomsToHold(rooms: readonly FoundRoom[]): FoundRoom[] {
  const longest = new Map<string, FoundRoom>();
  for (const room of rooms) {
    const known = longest.get(room.ask.unit);
    if (room.hold !== undefined && room.hold.reserve.forMs > (known?.hold?.reserve.forMs ?? 0)) {
      longest.set(room.ask.unit, room);
    }
  }
  return [...longest.values()];
}

/**
 * Keeps room for what a budget has let go a moment ago and nobody here knows of: another replica has granted it, which
 * found places by the same rules.
 */
export function keepRecordedRoom(entry: IndexedBudget, judge: RoomJudge, nowMs: number): void {
  if (!asksForRoom(entry.budget)) return;
  for (const [name, at] of Object.entries(entry.budget.status?.disruptedPods ?? {})) {
    const until = (parseTime(at) ?? 0) + PROMISED_MS;
    const pod = entry.tally.pods.get(name);
    if (until <= nowMs || pod === undefined) continue;
    const ask = askFor(entry, pod, { nowMs });
    if (judge.hasPromise(ask.unit)) continue;
    const answer = judge.ask(ask);
    if (answer.found) judge.promise(ask, answer.where, until);
  }
}
