import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatKey, type KubeObject, type ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  decideHold,
  HOLD_FOR,
  HOLD_GRANT,
  HOLD_MEMBERS,
  HOLD_SIZE,
  HOLD_UNTIL,
  type HoldMember,
  isPlaceholder,
  isReplacement,
  placeholderAgain,
  shortUid,
} from '../../../decisions/capacity/index.ts';
import { CAPACITY_LOST, type RoomJudge } from '../../../decisions/disruption/index.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isNotFound,
  type Metrics,
  type ReconcileResult,
  settled,
  type Wake,
  type Watch,
  watch,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import { lostBy, LostRooms } from './lost-rooms.ts';

/** Looked at again while members wait: a try that failed may have cleared what they were promised. */
const RENOMINATE_MS = 1_000;
const MAX_BACKOFF_MS = 160;

/** A member of a unit that room is held for. */
export interface HeldPod {
  readonly name: string;
  readonly uid: string;
  /** Serves, by the count of the budget. */
  readonly up: boolean;
}

/** Whose room it is, by the placeholders that stand for it. */
export interface HeldUnit {
  readonly namespace: string;
  readonly budget: string;
  readonly unit: string;
  /** When room was first held for it. */
  readonly heldAt: number;
}

/** Budgets of one kind, and what they count. */
export interface HoldingBudgets {
  readonly kind: string;
  /** Undefined once it is gone. */
  readonly get: (key: ObjectKey) => KubeObject | undefined;
  /** Names of the budgets that a pod counts for, in its namespace. */
  readonly concernedBy: (pod: Pod) => Iterable<string>;
  /** The unit's members; of a pod that stands alone, those that came after the room was held. */
  readonly membersOf: (held: HeldUnit) => { readonly pods: readonly HeldPod[]; readonly minCount: number };
}

export interface HoldDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly holding: HoldingBudgets;
  /** Budgets under which placeholders were seen, or a unit's room was lost. */
  readonly held: Set<string>;
  /** Who finds other places for what lost its room. */
  readonly room: () => RoomJudge | undefined;
  readonly lost: LostRooms;
  /** What was last seen of each unit: what is gone can be held elsewhere. */
  readonly seen: Map<string, SeenHold>;
  /** Of those who write the statuses of budgets. */
  readonly queue: WorkQueue;
  readonly countLost: (by: 'pod' | 'node') => void;
}

/** The placeholders of a unit, and its members, by name. */
interface SeenHold {
  readonly placeholders: Map<string, Pod>;
  readonly members: Map<string, Pod>;
  /** UIDs of placeholders that were given back here: the watch may show them a while longer. */
  readonly givenBack: Set<string | undefined>;
  /** By UID, where members were promised a place and when: a scheduler takes that back whenever it finds no place. */
  readonly promises: Map<string, { readonly node: string; readonly at: number }>;
}

/** What a controller keeps for the loop. */
export const holdState = (metrics: Metrics) => ({
  held: new Set<string>(),
  lost: new LostRooms(),
  seen: new Map<string, SeenHold>(),
  countLost: (by: 'pod' | 'node') => metrics.counter('quorate_capacity_lost_total').inc({ by }),
});

const budgetOf = ({ metadata }: Pod, { kind }: HoldingBudgets): string | undefined =>
  metadata.ownerReferences?.find((owner) => owner.kind === kind)?.name;

/** Budgets under which room is held, by the placeholders and by the pods of the units they are held for. */
function watchHolds({ held, holding, pods }: Pick<HoldDeps, 'held' | 'holding' | 'pods'>): Watch[] {
  const concerned = (pod: Pod): Wake[] => {
    const { namespace = '' } = pod.metadata;
    if (isPlaceholder(pod)) {
      const budget = budgetOf(pod, holding);
      if (budget === undefined) return [];
      const key = formatKey({ namespace, name: budget });
      held.add(key);
      return [key];
    }
    if (held.size === 0) return [];
    const keys = [...new Set(holding.concernedBy(pod))].map((budget) => formatKey({ namespace, name: budget }));
    return keys.filter((key) => held.has(key));
  };
  return [watch(pods, { added: concerned, updated: concerned, deleted: concerned })];
}

/**
 * Looks after the room that placeholders hold under one budget: hands it to the members when they are back, and gives it
 * back when the unit is whole, its time is over, or the budget is gone. Everything is read from the objects, so that
 * whoever comes after a crash goes on where this left off.
 */
async function reconcileHolds(deps: HoldDeps, key: ObjectKey): Promise<ReconcileResult> {
  const { namespace = '', name } = key;
  if (!deps.held.has(formatKey(key))) return settled;
  const byUnit = new Map<string, Pod[]>();
  for (const pod of deps.pods.list(namespace)) {
    if (!isPlaceholder(pod) || budgetOf(pod, deps.holding) !== name) continue;
    const unit = pod.metadata.annotations?.[HOLD_FOR] ?? '';
    byUnit.set(unit, [...(byUnit.get(unit) ?? []), pod]);
  }
  // All placeholders of a unit may have gone at once.
  for (const id of deps.seen.keys()) {
    const [budget, unit = ''] = id.split(' ');
    if (budget === formatKey(key) && !byUnit.has(unit)) byUnit.set(unit, []);
  }
  endLost(deps, key);
  if (byUnit.size === 0 && deps.lost.of(formatKey(key)).length === 0) deps.held.delete(formatKey(key));
  let next: number | undefined;
  for (const [unit, placeholders] of byUnit) {
    const afterMs = await lookAfter(deps, { namespace, budget: name, unit, placeholders });
    if (afterMs !== undefined) next = Math.min(next ?? afterMs, afterMs);
  }
  return next === undefined ? settled : { requeueAfterMs: next };
}

/** The loop of a controller of budgets that looks after what they hold. */
export const holdLoop = (name: string) =>
  ({
    name,
    workers: 1,
    backOff: { maxDelayMs: MAX_BACKOFF_MS },
    watches: watchHolds,
    reconcile: reconcileHolds,
  }) as const;

/** What is told of room that was given back before its unit was whole again. */
const GIVEN_BACK: Readonly<Partial<Record<string, { readonly event: string; readonly why: string }>>> = {
  Expired: { event: 'HoldExpired', why: 'its time is over and the group is not whole' },
  NotBound: { event: 'ReserveFailed', why: 'the scheduler found no place for a placeholder within a minute' },
};

interface Held {
  readonly namespace: string;
  readonly budget: string;
  readonly unit: string;
  readonly placeholders: readonly Pod[];
}

/** Promised once, promised for good: another place would be one of members that have yet to go. */
const promisedOnce = (members: readonly HoldMember[], promises: SeenHold['promises']): HoldMember[] =>
  members.map((one) => ({ ...one, nominated: one.nominated || (promises.get(one.uid)?.node ?? '') }));

function seenOf({ seen }: HoldDeps, id: string): SeenHold {
  const known = seen.get(id) ?? {
    members: new Map(),
    placeholders: new Map(),
    givenBack: new Set(),
    promises: new Map(),
  };
  seen.set(id, known);
  return known;
}

async function lookAfter(deps: HoldDeps, held: Held): Promise<number | undefined> {
  const { clock, events, holding } = deps;
  const { budget, namespace, placeholders } = held;
  const now = clock.now();
  const id = `${formatKey({ namespace, name: budget })} ${held.unit}`;
  const { givenBack, members: known, placeholders: seen, promises } = seenOf(deps, id);
  for (const pod of placeholders) {
    const { deletionTimestamp, name = '' } = pod.metadata;
    // What was given back here is no loss.
    if (givenBack.has(pod.metadata.uid)) continue;
    if (deletionTimestamp === undefined || seen.has(name)) seen.set(name, pod);
  }
  if (seen.size === 0) {
    if (placeholders.length === 0) deps.seen.delete(id);
    return undefined;
  }
  const annotations = [...seen.values()][0]?.metadata.annotations ?? {};
  const until = parseTime(annotations[HOLD_UNTIL]) ?? now;
  const { members, minCount } = membersOf(deps, held, [...seen.values()]);
  for (const { name } of members) {
    const pod = deps.pods.get({ namespace, name });
    if (pod !== undefined) known.set(name, pod);
  }
  const decision = decideHold({
    placeholders: placeholders.map(({ metadata, spec }) => ({
      name: metadata.name ?? '',
      node: spec?.nodeName ?? '',
      going: metadata.deletionTimestamp !== undefined || givenBack.has(metadata.uid),
      createdAt: parseTime(metadata.creationTimestamp) ?? now,
    })),
    grant: annotations[HOLD_GRANT] ?? '',
    size: Number(annotations[HOLD_SIZE] ?? placeholders.length),
    until,
    missing: seen.size - placeholders.filter(({ metadata }) => seen.has(metadata.name ?? '')).length,
    members: promisedOnce(members, promises),
    minCount,
    now,
  });
  const all = placeholders.map(({ metadata }) => metadata.name ?? '');
  const about = holding.get({ namespace, name: budget });
  if (placeholders.length === 0 && decision.action !== 'Lost') {
    deps.seen.delete(id);
    return undefined;
  }
  if (decision.action === 'Release' || about === undefined) {
    deps.seen.delete(id);
    await release(deps, held, all);
    const isLost = decision.action === 'Release' && decision.reason === 'NotBound' && placeholders.some(isReplacement);
    if (isLost && about !== undefined) tellLost(deps, held, [...seen.values()]);
    const told = decision.action === 'Release' ? GIVEN_BACK[decision.reason] : undefined;
    if (told !== undefined && about !== undefined) {
      events.record(about, 'Warning', told.event, `the room held for ${held.unit} was given back: ${told.why}`);
    }
    return undefined;
  }
  if (decision.action === 'Lost' && !deps.lost.has(formatKey({ namespace, name: budget }), held.unit)) {
    const isMade = await makeAgain(deps, held, { seen, known, until });
    if (!isMade) tellLost(deps, held, [...seen.values()]);
  }
  if (decision.action === 'HandOver') {
    for (const { node, pod } of decision.nominations) {
      const member = members.find(({ name }) => name === pod);
      if (member !== undefined) await promise(deps, held, { member, node, promises });
    }
    for (const name of decision.release) {
      givenBack.add(seen.get(name)?.metadata.uid);
      seen.delete(name);
    }
    await release(deps, held, decision.release);
  }
  // Not more often: a scheduler that is told of a promise tries at once, and takes it back where it is too early.
  for (const member of members) {
    const { at = now, node = '' } = promises.get(member.uid) ?? {};
    const isTakenBack = !member.going && member.node === '' && member.nominated === '';
    if (isTakenBack && at + RENOMINATE_MS <= now) await promise(deps, held, { member, node, promises });
  }
  const waits = members.some(({ going, node }) => !going && node === '');
  const unbound = placeholders.some(({ spec }) => !spec?.nodeName);
  return waits || unbound ? RENOMINATE_MS : Math.max(0, until - now);
}

/** Puts placeholders that are gone where else there is room, once: what then is lost is lost. */
async function makeAgain(
  { client, clock, pods, room }: HoldDeps,
  { namespace, placeholders, unit }: Held,
  { known, seen, until }: { seen: ReadonlyMap<string, Pod>; known: ReadonlyMap<string, Pod>; until: number },
): Promise<boolean> {
  if ([...seen.values()].some(isReplacement)) return false;
  const now = clock.now();
  // Those that are gone are made again as they were.
  const there = ({ metadata: { name = '' } }: Pod): boolean => pods.get({ namespace, name }) !== undefined;
  const size = Number([...seen.values()][0]?.metadata.annotations?.[HOLD_SIZE] ?? seen.size);
  const all = [...known.values()];
  const members = [...all.filter(there), ...all.filter((pod) => !there(pod))].slice(0, size);
  const named = members.map(({ metadata: { name = '', uid = '' } }) => ({ namespace, name, uid }));
  const [pod] = named;
  if (pod === undefined) return false;
  const ask = { pod, members: named, pods: members, unit, now, closing: [] };
  const standing = new Set(placeholders.map(({ metadata }) => metadata.name));
  const gone = [...seen].filter(([name]) => !standing.has(name)).map(([, pod]) => pod);
  const answer = room()?.replace(ask, gone.length);
  if (answer?.found !== true || answer.where.some(({ isFree }) => !isFree)) return false;
  const again = gone.flatMap((pod, at) => {
    const place = answer.where[at];
    return place === undefined ? [] : [placeholderAgain(pod, { ...place, seconds: Math.ceil((until - now) / 1000) })];
  });
  if (again.length < gone.length) return false;
  try {
    for (const pod of again) await client.create(podType, pod);
  } catch (error) {
    // It is made already, and not seen here yet.
    if (isAlreadyExists(error)) return true;
    // A quota's or a policy's word.
    if (error instanceof ApiError && error.code < 500 && error.code !== 429) return false;
    throw error;
  }
  return true;
}

/** Nothing else of the budget goes until the unit is whole, which its status says, and evictions with it. */
function tellLost({ countLost, events, held, holding, lost, queue }: HoldDeps, of: Held, seen: readonly Pod[]): void {
  const key = { namespace: of.namespace, name: of.budget };
  const standing = new Set(of.placeholders.map(({ metadata }) => metadata.name));
  const gone = seen.find(({ metadata }) => !standing.has(metadata.name));
  const by = gone === undefined ? 'pod' : lostBy(gone);
  const about = holding.get(key);
  const until = parseTime(seen[0]?.metadata.annotations?.[HOLD_UNTIL]) ?? 0;
  lost.add(formatKey(key), of.unit, { heldAt: heldSince(seen), until });
  held.add(formatKey(key));
  countLost(by);
  const message = `room held for ${of.unit} is lost (by ${by}); no other group goes until it is whole again`;
  if (about !== undefined) events.record(about, 'Warning', CAPACITY_LOST, message);
  queue.add(formatKey(key));
}

/** Units that are whole again although their room was lost, and those that nobody has made again in all that time. */
function endLost(deps: HoldDeps, { name, namespace = '' }: ObjectKey): void {
  const key = formatKey({ namespace, name });
  for (const [unit, { heldAt, until }] of deps.lost.of(key)) {
    const { minCount, pods } = deps.holding.membersOf({ namespace, budget: name, unit, heldAt });
    const up = pods.filter((pod) => {
      const going = deps.pods.get({ namespace, name: pod.name })?.metadata.deletionTimestamp !== undefined;
      return pod.up && !going;
    });
    const isGone = pods.length === 0 && until < deps.clock.now();
    if (up.length < minCount && !isGone) continue;
    deps.lost.end(key, unit);
    deps.queue.add(key);
  }
}

const heldSince = (placeholders: readonly Pod[]): number =>
  Math.min(...placeholders.map(({ metadata }) => parseTime(metadata.creationTimestamp) ?? 0));

function membersOf({ holding, pods }: HoldDeps, { budget, namespace, unit }: Held, placeholders: readonly Pod[]) {
  const heldAt = heldSince(placeholders);
  const before = new Set(placeholders[0]?.metadata.annotations?.[HOLD_MEMBERS]?.split(','));
  const { minCount, pods: found } = holding.membersOf({ namespace, budget, unit, heldAt });
  const members = found.map(({ name, uid, up }): HoldMember => {
    const { metadata, spec, status } = pods.get({ namespace, name }) ?? { metadata: {} };
    return {
      name,
      uid,
      node: spec?.nodeName ?? '',
      going: metadata.deletionTimestamp !== undefined,
      up,
      isNew: !before.has(shortUid(uid)),
      nominated: status?.nominatedNodeName ?? '',
    };
  });
  return { members, minCount };
}

async function promise(
  { client, clock }: HoldDeps,
  { namespace }: Held,
  { member, node, promises }: { member: HoldMember; node: string; promises: SeenHold['promises'] },
): Promise<void> {
  promises.set(member.uid, { node, at: clock.now() });
  const body = { status: { nominatedNodeName: node } };
  const key = { namespace, name: member.name };
  await client.patch(podType, key, { type: 'merge', body }, { subresource: 'status' }).catch(unlessGone);
}

async function release(
  { client }: HoldDeps,
  { namespace, placeholders }: Held,
  names: readonly string[],
): Promise<void> {
  for (const { metadata } of placeholders) {
    const { deletionTimestamp, name = '', uid } = metadata;
    if (!names.includes(name) || deletionTimestamp !== undefined) continue;
    await client.delete(podType, { namespace, name }, { preconditions: { uid } }).catch(unlessGone);
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
