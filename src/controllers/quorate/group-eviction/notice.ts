/** Carries a notice from its start to its end: tells, listens, and lets the group go or stay. */
import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionStatus,
  groupEvictionType,
  NOTICED,
  WITHDRAWN,
} from '../../../api/quorate/group-eviction.ts';
import type { GroupNotice, NoticeRequester } from '../../../api/quorate/notice.ts';
import { podType } from '../../../api/resource-types.ts';
import { setCondition } from '../../../decisions/disruption/conditions.ts';
import { readPod } from '../../../decisions/disruption/index.ts';
import { isMember } from '../../../decisions/group-eviction/index.ts';
import { decideNotice, type NoticeVerdict, readNoticePod } from '../../../decisions/notice/index.ts';
import { ApiError, existing, type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { deepEqual, formatTime, parseDurationMs, parseTime } from '../../../machinery/values/index.ts';
import { channelsOf, deliverAll, type NoticeCall } from './channels.ts';
import { type GroupEvictionDeps, JOINED, type NoticeMemory } from './deps.ts';
import { evictMembers } from './evict.ts';

/** Budgets that do not let a group go that was told are asked again after so long. */
const HELD_AGAIN_MS = 5000;

/** What a pass goes by. */
interface Pass {
  readonly deps: GroupEvictionDeps;
  readonly eviction: GroupEviction;
  readonly notice: GroupNotice;
  readonly memory: NoticeMemory;
  readonly call: NoticeCall;
}

export async function runNotice(
  deps: GroupEvictionDeps,
  eviction: GroupEviction,
  before: GroupNotice,
): Promise<ReconcileResult> {
  const { clock } = deps;
  const memory = remember(deps, before);
  const pods = await gatherMembers(deps, eviction, before);
  const leader = pods.find((pod) => readNoticePod(pod, before.id).isLeader)?.metadata.name;
  const leftMs = memory.endsAt - clock.elapsed();
  const call: NoticeCall = { eviction, notice: before, pods, leader, leftMs };
  let requesters = requestersOf(eviction, deps.evictions.byIndex(JOINED, nameOf(eviction)), before);
  let wanted = requesters.some(({ withdrawn }) => withdrawn !== true);
  if (!wanted) {
    // Somebody may have joined whom our cache has not heard of.
    requesters = requestersOf(eviction, await joinedNow(deps, eviction), before);
    wanted = requesters.some(({ withdrawn }) => withdrawn !== true);
  }
  const begun = (eviction.status?.evictedPods ?? []).length > 0;
  const delivery = wanted && !begun ? await deliverAll(deps.channels, call) : { words: new Map(), failed: false };
  const { members, verdict } = decideNotice({
    notice: before,
    pods: pods.map((pod) => readNoticePod(pod, before.id)),
    words: delivery.words,
    undelivered: delivery.failed,
    wanted,
    begun,
    leftMs,
    now: clock.now(),
    heldMs: memory.heldFrom === undefined ? undefined : clock.elapsed() - memory.heldFrom,
  });
  const notice: GroupNotice = { ...before, members: [...members], requesters };
  return follow({ deps, eviction, notice, memory, call }, verdict);
}

async function follow(pass: Pass, verdict: NoticeVerdict): Promise<ReconcileResult> {
  const { deps, eviction, memory, notice } = pass;
  switch (verdict.kind) {
    case 'End':
      return end(pass, verdict);
    case 'Wait':
      await write(deps, eviction, { ...eviction.status, notice: { ...notice, state: verdict.state } });
      return { requeueAfterMs: Math.max(0, verdict.forMs) };
    case 'Go': {
      const waitMs = (memory.askAgainAt ?? 0) - deps.clock.elapsed();
      if (memory.askAgainAt === undefined || waitMs <= 0) return go(pass, verdict.state);
      await write(deps, eviction, { ...eviction.status, notice });
      return { requeueAfterMs: waitMs };
    }
  }
}

/** What is left by the clock is taken once, and counted from then on: a clock that is set changes nothing. */
function remember({ clock, memories }: GroupEvictionDeps, notice: GroupNotice): NoticeMemory {
  const known = memories.get(notice.id);
  if (known !== undefined) return known;
  const now = clock.now();
  const fullMs = parseDurationMs(notice.terms.duration) ?? 0;
  const leftMs = Math.min(Math.max((parseTime(notice.deadline) ?? now) - now, 0), fullMs);
  const heldMs = Math.max(0, now - (parseTime(notice.heldSince) ?? now));
  const memory: NoticeMemory = {
    endsAt: clock.elapsed() + leftMs,
    ...(notice.state === 'Held' && { heldFrom: clock.elapsed() - heldMs }),
  };
  memories.set(notice.id, memory);
  return memory;
}

/** Members that are there and not on their way out. One that the cache does not have is asked for before it is gone. */
async function gatherMembers(
  { client, pods }: GroupEvictionDeps,
  { metadata: { namespace = '' }, spec = {} }: GroupEviction,
  { members = [] }: GroupNotice,
): Promise<Pod[]> {
  const isThere = (pod: Pod): boolean => !pod.metadata.deletionTimestamp && !isPodFinished(pod);
  const named = new Set(members.map(({ uid }) => uid));
  const isOne = (pod: Pod): boolean => isMember(spec, readPod(pod)) || named.has(pod.metadata.uid ?? '');
  const found = pods.list(namespace).filter((pod) => isThere(pod) && isOne(pod));
  for (const { name, state, uid } of members) {
    if (state === 'Gone' || pods.get({ namespace, name })?.metadata.uid === uid) continue;
    const pod = await existing(client.get(podType, { namespace, name }));
    if (pod?.metadata.uid === uid && isThere(pod)) found.push(pod);
  }
  return found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

const nameOf = ({ metadata: { name = '', namespace = '' } }: GroupEviction): string => `${namespace}/${name}`;

/** Who wants the group gone: who began it, and who joined. Those that are not there any more do not. */
function requestersOf(
  eviction: GroupEviction,
  joined: readonly GroupEviction[],
  { requesters = [] }: GroupNotice,
): NoticeRequester[] {
  const entry = ({ metadata, spec }: GroupEviction): NoticeRequester => ({
    name: metadata.name ?? '',
    ...((spec?.intent === 'Withdrawn' || metadata.deletionTimestamp !== undefined) && { withdrawn: true }),
  });
  const there = new Map([eviction, ...joined].map((one) => [one.metadata.name ?? '', entry(one)]));
  const gone = requesters
    .filter(({ name }) => !there.has(name))
    .map((one): NoticeRequester => ({ ...one, withdrawn: true }));
  return [...there.values(), ...gone].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function joinedNow({ client }: GroupEvictionDeps, { metadata }: GroupEviction): Promise<GroupEviction[]> {
  const { name, namespace } = metadata;
  const { items } = await client.list(groupEvictionType, { namespace });
  return items.filter(({ status }) => status?.joined === name);
}

/** The group goes as one, where budgets let it; otherwise it is held, and they are asked again. */
async function go(pass: Pass, state: 'Done' | 'TimedOut'): Promise<ReconcileResult> {
  const { deps, eviction, memory, notice } = pass;
  const ended = { ...eviction, status: { ...eviction.status, notice: { ...notice, state } } };
  if (deps.settle !== undefined) {
    const told = await evictMembers(deps, deps.settle, ended);
    if (told.evicted) {
      await deps.notices?.end(eviction, notice, true);
      over(pass, state);
      return settled;
    }
    return told.reason === 'NoMembers' ? end(pass, NOBODY) : hold(pass, told.message);
  }
  try {
    await deps.client.updateStatus(groupEvictionType, ended);
  } catch (error) {
    if (error instanceof ApiError && error.code === 429) return hold(pass, error.message);
    if (error instanceof ApiError && error.code === 404 && error.message.startsWith('Cannot evict group')) {
      return end(pass, NOBODY);
    }
    throw error;
  }
  memory.askAgainAt = undefined;
  over(pass, state);
  return settled;
}

const NOBODY = {
  kind: 'End',
  state: 'Superseded',
  reason: 'Superseded',
  message: 'no member of the group is left',
} as const;

async function hold({ deps, eviction, memory, notice }: Pass, message: string): Promise<ReconcileResult> {
  const { clock } = deps;
  memory.heldFrom ??= clock.elapsed();
  memory.askAgainAt = clock.elapsed() + HELD_AGAIN_MS;
  const heldSince = notice.heldSince ?? formatTime(clock.now());
  const condition = { type: NOTICED, status: 'True', reason: 'Held', message };
  await write(deps, eviction, {
    ...eviction.status,
    notice: { ...notice, state: 'Held', heldSince },
    conditions: setCondition(eviction.status?.conditions ?? [], condition, clock.now()),
  });
  return { requeueAfterMs: HELD_AGAIN_MS };
}

/** Nothing goes: members are told so first, then the end is written, and with it what was kept is given back. */
async function end(pass: Pass, verdict: Extract<NoticeVerdict, { kind: 'End' }>): Promise<ReconcileResult> {
  const { call, deps, eviction, notice } = pass;
  const { message, reason, state } = verdict;
  for (const [at, channel] of channelsOf(notice).entries()) {
    await deps.channels[channel.type]?.withdraw?.(call, channel, at);
  }
  await deps.notices?.end(eviction, notice, false);
  const now = deps.clock.now();
  const evicted = { type: EVICTED, status: 'False', reason, message };
  const conditions = setCondition(eviction.status?.conditions ?? [], evicted, now);
  await deps.client.updateStatus(groupEvictionType, {
    ...eviction,
    status: {
      ...eviction.status,
      notice: { ...notice, state },
      conditions:
        state === 'Withdrawn'
          ? setCondition(conditions, { type: WITHDRAWN, status: 'True', reason, message }, now)
          : conditions,
    },
  });
  over(pass, state);
  return settled;
}

function over({ deps, eviction, notice }: Pass, state: GroupNotice['state']): void {
  const { channels, clock, events, measured, memories } = deps;
  memories.delete(notice.id);
  for (const { type } of channelsOf(notice)) channels[type]?.forget?.(notice.id);
  const startedAt = parseTime(notice.startedAt) ?? clock.now();
  measured(state, Math.max(0, clock.now() - startedAt) / 1000);
  const went = state === 'Done' || state === 'TimedOut';
  events.record(eviction, went ? 'Normal' : 'Warning', `Notice${state}`, `the notice of ${notice.group} is over`);
}

async function write(
  { client }: GroupEvictionDeps,
  eviction: GroupEviction,
  status: GroupEvictionStatus,
): Promise<void> {
  if (deepEqual(eviction.status, status)) return;
  await client.updateStatus(groupEvictionType, { ...eviction, status });
}
