import type { PodCondition, PodStatus } from '../../api/generated/core-v1.ts';
import { MAINTENANCE_CONDITION } from '../../api/quorate/notice.ts';
import { deepEqual, formatTime } from '../../machinery/values/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';
import { type DeletionOptions, deleteInTransaction } from '../stored/deletion.ts';
import { putObject } from '../stored/encoding.ts';
import type { ObjectParts } from '../stored/decode.ts';

export interface Removal {
  readonly resource: Resource;
  readonly key: string;
  readonly name: string;
  readonly entry: StoredEntry;
  /** The pod as it is, when the caller has read it already. */
  readonly state?: ObjectParts;
  readonly options: DeletionOptions;
  /** It goes for a Maintenance: failure policies of Jobs tell that from a failure. */
  readonly maintenance?: string | undefined;
  /** It goes with all of its group, and not because it was asked for itself. */
  readonly inGroup?: boolean | undefined;
}

/**
 * Marks the pod as evicted and deletes it as any delete would: with grace and finalizers it stays, marked. The
 * condition and the deletion are one write.
 */
export function removePod(context: ServerContext, transaction: Transaction, removal: Removal): void {
  const { entry, key, name, options, resource } = removal;
  const { managedFields, object: pod } = removal.state ?? context.objects.readParts(entry);
  const now = context.clock.now();
  const marked = conditionsOf(removal).reduce((to, condition) => withCondition(to, condition, now), pod);
  const state = { object: marked, managedFields };
  const outcome = deleteInTransaction(context, transaction, { target: { resource, key, name }, options, state });
  // A pod that was going already may not change by being deleted again; its condition still has to be kept.
  if (outcome.entry === entry && marked !== pod) {
    putObject(context, transaction, {
      resource,
      key,
      object: { ...marked, metadata: { ...marked.metadata } },
      managedFields,
    });
  }
}

function conditionsOf({ inGroup, maintenance }: Removal): Pick<PodCondition, 'type' | 'reason' | 'message'>[] {
  const type = 'DisruptionTarget';
  if (maintenance === undefined && inGroup === true) {
    return [{ type, reason: 'GroupEviction', message: 'GroupEviction: evicting' }];
  }
  if (maintenance === undefined) return [{ type, reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }];
  const message = `Maintenance ${maintenance}: evicting`;
  return [
    { type, reason: 'PlannedMaintenance', message },
    { type: MAINTENANCE_CONDITION, reason: 'PlannedMaintenance', message },
  ];
}

function withCondition(
  pod: ApiObject,
  { message, reason, type }: Pick<PodCondition, 'type' | 'reason' | 'message'>,
  now: number,
): ApiObject {
  const status = (pod['status'] ?? {}) as PodStatus;
  const conditions = status.conditions ?? [];
  const old = conditions.find((one) => one.type === type);
  const condition: PodCondition = {
    type,
    status: 'True',
    ...({ lastProbeTime: null } as object),
    lastTransitionTime: old?.status === 'True' && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now),
    reason,
    message,
  };
  if (deepEqual(old, condition)) return pod;
  const next =
    old === undefined ? [...conditions, condition] : conditions.map((one) => (one === old ? condition : one));
  return { ...pod, status: { ...status, conditions: next } };
}
