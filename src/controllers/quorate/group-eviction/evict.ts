import type { Pod, PodCondition } from '../../../api/generated/core-v1.ts';
import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionSpec,
  type GroupEvictionStatus,
  groupEvictionType,
} from '../../../api/quorate/group-eviction.ts';
import { maintenanceType } from '../../../api/quorate/maintenance.ts';
import { MAINTENANCE_CONDITION } from '../../../api/quorate/notice.ts';
import { podType } from '../../../api/resource-types.ts';
import { type Client, existing, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { GroupEvictionDeps, SettledGroup, SettleGroup } from './deps.ts';

/** How often it is looked for members that join while others are marked. */
const MAX_ROUNDS = 3;

type Evictor = Pick<GroupEvictionDeps, 'client' | 'clock' | 'events'>;

export type Evicted = { readonly evicted: true } | ({ readonly evicted: false } & Refused);
type Refused = Pick<Extract<SettledGroup, { granted: false }>, 'message' | 'reason'>;

/**
 * Asks the budgets and lets all members go: never half of them. They are named before anything is done to them, then each
 * is marked, by the uid it was judged by, and only when all are marked the first is deleted. A replica that takes over in
 * the middle goes on where the marks say that it stands.
 */
export async function evictMembers(deps: Evictor, settle: SettleGroup, eviction: GroupEviction): Promise<Evicted> {
  const { client, clock, events } = deps;
  const { namespace = '' } = eviction.metadata;
  const { spec = {}, status = {} } = eviction;
  const group = await settle(namespace, spec);
  const begun = status.evictedPods ?? [];
  if (!group.granted && begun.length === 0) return { evicted: false, ...group };
  const settled = group.granted ? group.members : [];
  const members = await stillToGo(deps, eviction, settled);
  const named =
    begun.length === 0
      ? await client.updateStatus(groupEvictionType, {
          ...eviction,
          status: { ...status, ...namesOf(status, members) },
        })
      : eviction;
  const marked = await markAll(deps, settle, { eviction, members });
  await removeAll(deps, marked, { namespace, spec });
  const told = namesOf(named.status ?? {}, marked);
  const message = `${told.evictedPods.length} pods were told to go`;
  const condition = { status: 'True', reason: 'AllMembersEvicted', message } as const;
  await client.updateStatus(groupEvictionType, {
    ...named,
    status: withEvicted({ ...named.status, ...told }, clock.now(), condition),
  });
  events.record(eviction, 'Normal', 'AllMembersEvicted', message);
  return { evicted: true };
}

/** With those that were named before. */
function namesOf(
  { evictedPods = [], evictedPodUIDs = [] }: GroupEvictionStatus,
  members: readonly MemberRef[],
): { evictedPods: string[]; evictedPodUIDs: string[] } {
  return {
    evictedPods: [...new Set([...evictedPods, ...members.map(({ name }) => name)])].sort(),
    evictedPodUIDs: [...new Set([...evictedPodUIDs, ...members.map(({ uid }) => uid)])].sort(),
  };
}

interface MemberRef {
  readonly name: string;
  readonly uid: string;
}

/**
 * Once the first of those that were named has gone, only those that are marked follow: what is there beside them has come
 * in the place of what went.
 */
async function stillToGo(
  { client }: Evictor,
  { metadata: { namespace = '' }, spec = {}, status = {} }: GroupEviction,
  members: readonly MemberRef[],
): Promise<readonly MemberRef[]> {
  const { evictedPods = [], evictedPodUIDs } = status;
  if (evictedPods.length === 0) return members;
  const pods = await Promise.all(evictedPods.map((name) => existing(client.get(podType, { namespace, name }))));
  const staying = pods.filter(
    (pod) =>
      pod !== undefined &&
      pod.metadata.deletionTimestamp === undefined &&
      evictedPodUIDs?.includes(pod.metadata.uid ?? '') !== false,
  ) as Pod[];
  if (staying.length === evictedPods.length) return members;
  const marked = staying.filter((pod) => isMarked(pod, spec));
  return marked.map(({ metadata: { name = '', uid = '' } }) => ({ name, uid }));
}

function isMarked({ status }: Pod, spec: GroupEvictionSpec): boolean {
  const [mark] = conditionsOf(spec, '');
  return status?.conditions?.some(({ reason, type }) => type === mark?.type && reason === mark.reason) === true;
}

/** Marks the members, and whoever has joined them meanwhile. */
async function markAll(
  deps: Evictor,
  settle: SettleGroup,
  { eviction, members }: { eviction: GroupEviction; members: readonly MemberRef[] },
): Promise<readonly MemberRef[]> {
  const { namespace = '' } = eviction.metadata;
  const { spec = {} } = eviction;
  const marked: MemberRef[] = [];
  let open = members;
  for (let round = 0; open.length > 0 && round < MAX_ROUNDS; round += 1) {
    for (const member of open) if (await mark(deps, { namespace, ...member, spec })) marked.push(member);
    if (marked.length < 2) break;
    const again = await settle(namespace, spec);
    const known = new Set(marked.map(({ uid }) => uid));
    open = again.granted ? again.members.filter(({ uid }) => !known.has(uid)) : [];
  }
  return marked;
}

type Going = MemberRef & { readonly namespace: string; readonly spec: GroupEvictionSpec };

/** False where the pod is gone, or another of its name has come. */
async function mark({ client, clock }: Evictor, { name, namespace, spec, uid }: Going): Promise<boolean> {
  const conditions = conditionsOf(spec, formatTime(clock.now()));
  return unlessGone(client, { namespace, name, uid }, () =>
    client.patch(
      podType,
      { namespace, name },
      { type: 'strategic', body: { metadata: { uid }, status: { conditions } } },
      { subresource: 'status' },
    ),
  );
}

/** Deletes that are on their way together. */
const AT_ONCE = 32;

/**
 * Many at a time: a replica that dies between the first and the last leaves a group that may be made whole again before its
 * successor takes the rest, which would take it down twice.
 */
async function removeAll(
  deps: Evictor,
  members: readonly MemberRef[],
  { namespace, spec }: Pick<Going, 'namespace' | 'spec'>,
): Promise<void> {
  for (let at = 0; at < members.length; at += AT_ONCE) {
    const some = members.slice(at, at + AT_ONCE);
    await Promise.all(some.map(({ name, uid }) => remove(deps, { namespace, name, uid, spec })));
  }
}

async function remove({ client }: Evictor, { name, namespace, spec, uid }: Going): Promise<void> {
  const { gracePeriodSeconds } = spec;
  await unlessGone(client, { namespace, name, uid }, () =>
    client.delete(podType, { namespace, name }, { gracePeriodSeconds, preconditions: { uid } }),
  );
}

async function unlessGone(
  client: Client,
  { name, namespace, uid }: MemberRef & { readonly namespace: string },
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    // Replaced by another pod of its name: this one went.
    if (isConflict(error) && (await existing(client.get(podType, { namespace, name })))?.metadata.uid !== uid)
      return false;
    throw error;
  }
}

/** Failure policies of Jobs tell by the second one that a pod goes for a Maintenance, and did not fail. */
function conditionsOf({ cause, podName }: GroupEvictionSpec, lastTransitionTime: string): PodCondition[] {
  const condition = { type: 'DisruptionTarget', status: 'True', lastTransitionTime };
  if (cause?.kind !== maintenanceType.kind) {
    const reason = podName === undefined ? 'GroupEviction' : 'EvictionByEvictionAPI';
    return [{ ...condition, reason, message: 'GroupEviction: evicting' }];
  }
  const planned = { reason: 'PlannedMaintenance', message: `Maintenance ${cause.name}: evicting` };
  return [
    { ...condition, ...planned },
    { ...condition, ...planned, type: MAINTENANCE_CONDITION },
  ];
}

export function withEvicted(
  status: GroupEvictionStatus,
  now: number,
  condition: { status: 'True' | 'False'; reason: string; message: string },
): GroupEvictionStatus {
  const others = (status.conditions ?? []).filter(({ type }) => type !== EVICTED);
  return { ...status, conditions: [...others, { type: EVICTED, lastTransitionTime: formatTime(now), ...condition }] };
}
