import type { PodCondition } from '../../../api/generated/core-v1.ts';
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
import { existing, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { GroupEvictionDeps, SettledGroup, SettleGroup } from './deps.ts';

type Evictor = Pick<GroupEvictionDeps, 'client' | 'clock' | 'events'>;

export type Evicted = { readonly evicted: true } | ({ readonly evicted: false } & Refused);
type Refused = Pick<Extract<SettledGroup, { granted: false }>, 'message' | 'reason'>;

/**
 * Asks the budgets and lets all members go. They are named before they are told to go, and only those go by the uid they
 * were judged by: a replica that takes over in the middle finishes what was begun.
 */
export async function evictMembers(
  { client, clock, events }: Evictor,
  settle: SettleGroup,
  eviction: GroupEviction,
): Promise<Evicted> {
  const { namespace = '' } = eviction.metadata;
  const { spec = {}, status = {} } = eviction;
  const group = await settle(namespace, spec);
  const begun = status.evictedPods ?? [];
  if (!group.granted && begun.length === 0) return { evicted: false, ...group };
  const members = group.granted ? group.members : [];
  const evictedPods = [...new Set([...begun, ...members.map(({ name }) => name)])].sort();
  const named =
    evictedPods.length === begun.length
      ? eviction
      : await client.updateStatus(groupEvictionType, { ...eviction, status: { ...status, evictedPods } });
  for (const member of members) await evict({ client, clock }, { namespace, ...member, spec });
  const message = `${evictedPods.length} pods were told to go`;
  await client.updateStatus(groupEvictionType, {
    ...named,
    status: withEvicted(named.status ?? {}, clock.now(), { status: 'True', reason: 'AllMembersEvicted', message }),
  });
  events.record(eviction, 'Normal', 'AllMembersEvicted', message);
  return { evicted: true };
}

async function evict(
  { client, clock }: Pick<Evictor, 'client' | 'clock'>,
  { name, namespace, spec, uid }: { namespace: string; name: string; uid: string; spec: GroupEvictionSpec },
): Promise<void> {
  const at = formatTime(clock.now());
  try {
    await client.patch(
      podType,
      { namespace, name },
      { type: 'strategic', body: { metadata: { uid }, status: { conditions: conditionsOf(spec, at) } } },
      { subresource: 'status' },
    );
    const { gracePeriodSeconds } = spec;
    await client.delete(podType, { namespace, name }, { gracePeriodSeconds, preconditions: { uid } });
  } catch (error) {
    if (isNotFound(error)) return;
    // Replaced by another pod of its name: this one went.
    if (isConflict(error) && (await existing(client.get(podType, { namespace, name })))?.metadata.uid !== uid) return;
    throw error;
  }
}

/** Failure policies of Jobs tell by the second one that a pod goes for a Maintenance, and did not fail. */
function conditionsOf({ cause }: GroupEvictionSpec, lastTransitionTime: string): PodCondition[] {
  const condition = { type: 'DisruptionTarget', status: 'True', lastTransitionTime };
  if (cause?.kind !== maintenanceType.kind) {
    return [{ ...condition, reason: 'EvictionByEvictionAPI', message: 'GroupEviction: evicting' }];
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
