import { EVICTED, type GroupEviction, type GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { maintenanceType } from '../../api/quorate/maintenance.ts';
import { setCondition } from '../../decisions/disruption/conditions.ts';
import type { CountedPod, DisruptionIndex } from '../../decisions/disruption/index.ts';
import {
  decideGroupEviction,
  formatGroup,
  formatGroupRefusal,
  type GroupVerdict,
  membersOf,
} from '../../decisions/group-eviction/index.ts';
import { keepFoundRoom, refusedBudgets } from '../../decisions/unavailability/index.ts';
import type { Transaction } from '../../storage/index.ts';
import { chargeBudget, chargePolicies, holdRoom, holdRooms, refusalError, removePod } from '../eviction/index.ts';
import { type ApiError, failure } from '../exchange/status.ts';
import { objectKey } from '../registry/resource.ts';
import { type Guarding, writeStatus } from '../unavailability/index.ts';

export interface EvictionParts {
  readonly guarding: Guarding;
  readonly index: DisruptionIndex;
}

/** A group that is to go, and who asks. */
export interface GroupAsked {
  readonly namespace: string;
  readonly spec: GroupEvictionSpec;
  readonly username: string;
  readonly dryRun: boolean;
  readonly nowMs: number;
  /** The one pod that was asked for, where its group goes as one. */
  readonly evicted?: string | undefined;
}

export type GrantedGroup = Extract<GroupVerdict, { allowed: true }>;

/** The members, and what all budgets of them say; throws the answer where one refuses, or nobody is there. */
export function askBudgets(
  { guarding, index }: EvictionParts,
  { dryRun, evicted, namespace, nowMs, spec, username }: GroupAsked,
): { members: readonly CountedPod[]; verdict: GrantedGroup } {
  const { compat, gates, view } = guarding;
  const members = membersOf(index, namespace, spec);
  if (members.length === 0) throw noMembers(namespace, spec);
  const verdict = decideGroupEviction({
    members,
    disruption: index,
    unavailability: view.of(namespace),
    gates,
    scaleOf: (uid) => view.scaleOf(uid),
    nowMs,
    compat,
  });
  if (verdict.allowed) return { members, verdict };
  if (verdict.reason === 'UnavailableBudget' && !dryRun) {
    const budgets = refusedBudgets(namespace, verdict.refusals);
    guarding.refused({ pod: verdict.pod, operation: 'EVICT', username, budgets });
  }
  throw refusalError(formatGroupRefusal(verdict, { spec, members: members.length, index, nowMs, compat, evicted }));
}

/**
 * Charges every budget and lets all members go, in the transaction that grants it. The one pod that was asked for is left to
 * whoever was asked.
 */
export function carryOut(
  { guarding, index }: EvictionParts,
  transaction: Transaction,
  {
    members,
    verdict,
    ...asked
  }: Omit<GroupAsked, 'dryRun'> & { members: readonly CountedPod[]; verdict: GrantedGroup },
): void {
  const { namespace, nowMs, spec, username: by } = asked;
  const { context } = guarding;
  for (const { grant, pod } of verdict.placed)
    holdRoom({ context, index }, transaction, { grant, uid: pod.uid, now: nowMs });
  for (const { budget, pods } of verdict.disruption) {
    chargeBudget({ context, index }, transaction, { namespace, budget, pods, now: nowMs });
  }
  keepFoundRoom(index.room, verdict.rooms, nowMs);
  holdRooms({ context, judge: index.room }, transaction, verdict.rooms, nowMs);
  for (const { entry, status } of verdict.unavailability) writeStatus(context, transaction, entry, status);
  for (const { charge, pod } of verdict.limits) {
    chargePolicies(context, transaction, charge, { namespace, pod, by, way: 'GroupEviction', now: nowMs });
  }
  for (const { name } of members) {
    if (name === asked.evicted) continue;
    remove(guarding, transaction, { namespace, name, spec, inGroup: members.length > 1 });
  }
}

function remove(
  { context }: Guarding,
  transaction: Transaction,
  { inGroup, name, namespace, spec }: { namespace: string; name: string; spec: GroupEvictionSpec; inGroup: boolean },
): void {
  const resource = context.registry.byPlural('', 'pods');
  if (resource === undefined) throw new Error('Cannot evict a group: pods are not served');
  const key = objectKey(resource, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw new Error(`Cannot evict pod ${namespace}/${name}: it is counted but not stored`);
  const options = { gracePeriodSeconds: spec.gracePeriodSeconds };
  const maintenance = spec.cause?.kind === maintenanceType.kind ? spec.cause.name : undefined;
  removePod(context, transaction, { resource, key, name, entry, options, maintenance, inGroup });
}

/** What the status of a GroupEviction says once its members were told to go. */
export function evictedStatus(
  before: GroupEviction['status'],
  members: readonly CountedPod[],
  nowMs: number,
): NonNullable<GroupEviction['status']> {
  const message = `${members.length} pods were told to go`;
  const condition = { type: EVICTED, status: 'True', reason: 'AllMembersEvicted', message };
  return {
    ...before,
    evictedPods: members.map(({ name }) => name),
    evictedPodUIDs: members.map(({ uid }) => uid),
    conditions: setCondition(before?.conditions ?? [], condition, nowMs),
  };
}

function noMembers(namespace: string, spec: GroupEvictionSpec): ApiError {
  const message = `Cannot evict group ${formatGroup(spec)}: no pod of it runs in namespace ${namespace}`;
  return failure(404, 'NotFound', message, { details: {} });
}
