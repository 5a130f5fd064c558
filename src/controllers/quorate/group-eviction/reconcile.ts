import type { PodCondition } from '../../../api/generated/core-v1.ts';
import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionSpec,
  type GroupEvictionStatus,
  groupEvictionType,
} from '../../../api/quorate/group-eviction.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  existing,
  type Informer,
  isConflict,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../../../machinery/values/index.ts';

/** The members, all recorded with their budgets, or why there is nothing to do. */
export type SettledGroup =
  | { readonly granted: true; readonly members: readonly { readonly name: string; readonly uid: string }[] }
  | { readonly granted: false; readonly reason: 'Refused' | 'NoMembers'; readonly message: string };

/** Asks the budgets once more. What was recorded when the request was granted costs nothing again. */
export type SettleGroup = (namespace: string, spec: GroupEvictionSpec) => Promise<SettledGroup>;

export interface GroupEvictionDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly evictions: Informer<GroupEviction>;
  readonly settle: SettleGroup | undefined;
}

const DEFAULT_TTL_SECONDS = 3600;

export async function reconcileGroupEviction(deps: GroupEvictionDeps, key: ObjectKey): Promise<ReconcileResult> {
  const eviction = deps.evictions.get(key);
  if (eviction === undefined || eviction.metadata.deletionTimestamp) return settled;
  const finished = eviction.status?.conditions?.find(({ type }) => type === EVICTED);
  if (finished !== undefined) return expire(deps, eviction, parseTime(finished.lastTransitionTime));
  if (deps.settle === undefined) return settled;
  return carryOut(deps, deps.settle, eviction);
}

/**
 * The members are named before they are told to go, and only those that go by the uid they were judged by: a replica
 * that takes over in the middle finishes what was begun.
 */
async function carryOut(
  { client, clock, events }: GroupEvictionDeps,
  settle: SettleGroup,
  eviction: GroupEviction,
): Promise<ReconcileResult> {
  const { namespace = '' } = eviction.metadata;
  const { spec = {}, status = {} } = eviction;
  const group = await settle(namespace, spec);
  const begun = status.evictedPods ?? [];
  if (!group.granted && begun.length === 0) {
    events.record(eviction, 'Warning', group.reason, group.message);
    await client.updateStatus(groupEvictionType, {
      ...eviction,
      status: withCondition(status, clock.now(), { status: 'False', reason: group.reason, message: group.message }),
    });
    return settled;
  }
  const members = group.granted ? group.members : [];
  const evictedPods = [...new Set([...begun, ...members.map(({ name }) => name)])].sort();
  const named =
    evictedPods.length === begun.length
      ? eviction
      : await client.updateStatus(groupEvictionType, { ...eviction, status: { ...status, evictedPods } });
  for (const member of members)
    await evict({ client, clock }, { namespace, ...member, grace: spec.gracePeriodSeconds });
  const message = `${evictedPods.length} pods were told to go`;
  await client.updateStatus(groupEvictionType, {
    ...named,
    status: withCondition(named.status ?? {}, clock.now(), { status: 'True', reason: 'AllMembersEvicted', message }),
  });
  events.record(eviction, 'Normal', 'AllMembersEvicted', message);
  return settled;
}

async function evict(
  { client, clock }: Pick<GroupEvictionDeps, 'client' | 'clock'>,
  { grace, name, namespace, uid }: { namespace: string; name: string; uid: string; grace: number | undefined },
): Promise<void> {
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'GroupEviction: evicting',
    lastTransitionTime: formatTime(clock.now()),
  };
  try {
    await client.patch(
      podType,
      { namespace, name },
      { type: 'strategic', body: { metadata: { uid }, status: { conditions: [condition] } } },
      { subresource: 'status' },
    );
    await client.delete(podType, { namespace, name }, { gracePeriodSeconds: grace, preconditions: { uid } });
  } catch (error) {
    if (isNotFound(error)) return;
    // Replaced by another pod of its name: this one went.
    if (isConflict(error) && (await existing(client.get(podType, { namespace, name })))?.metadata.uid !== uid) return;
    throw error;
  }
}

function withCondition(
  status: GroupEvictionStatus,
  now: number,
  condition: { status: 'True' | 'False'; reason: string; message: string },
): GroupEvictionStatus {
  return { ...status, conditions: [{ type: EVICTED, lastTransitionTime: formatTime(now), ...condition }] };
}

async function expire(
  { client, clock }: GroupEvictionDeps,
  { metadata, spec }: GroupEviction,
  finishedAt: number | undefined,
): Promise<ReconcileResult> {
  const due = (finishedAt ?? clock.now()) + (spec?.ttlSecondsAfterFinished ?? DEFAULT_TTL_SECONDS) * 1000;
  if (due > clock.now()) return { requeueAfterMs: due - clock.now() };
  try {
    const { name = '', namespace, uid } = metadata;
    await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return settled;
}
