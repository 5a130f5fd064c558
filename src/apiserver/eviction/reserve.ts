import type { Pod } from '../../api/generated/core-v1.ts';
import { type HoldAsk, holdClassObject, planHold } from '../../decisions/capacity/index.ts';
import {
  type BudgetFacts,
  type DisruptionIndex,
  type Grant,
  keepRoom,
  reserveFailed,
  withCauses,
} from '../../decisions/disruption/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import { putObject } from '../stored/encoding.ts';
import { initMetadata } from '../stored/metadata.ts';
import { chargeQuotas } from '../stored/quotas.ts';
import { refusalError } from './refusal.ts';

const NONE: HoldAsk['others'] = { placeholders: 0, units: 0 };

interface Reservation {
  readonly grant: Grant;
  /** UID of the pod that is evicted. */
  readonly uid: string;
  readonly now: number;
}

/**
 * Keeps the room that a grant rests on: by placeholders where its budget asks for them, by a promise otherwise.
 * @throws what the eviction is answered with where room must be held and cannot be
 */
export function holdRoom(
  { context, index }: { context: ServerContext; index: DisruptionIndex },
  transaction: Transaction,
  reservation: Reservation,
): void {
  const { grant, now } = reservation;
  const others = index.room?.heldForOthers(grant.room?.ask.unit ?? '') ?? NONE;
  const failed = reserveRoom(context, transaction, { ...reservation, others });
  if (failed?.budget.reserve?.onFailure === 'Refuse') {
    throw refusalError(withCauses(reserveFailed(failed.budget.name, failed.text)));
  }
  const isHeld = grant.charge?.view.budget.reserve !== undefined && failed === undefined;
  keepRoom(index, grant, now, isHeld);
}

/**
 * Holds the room that was found for a unit, in the transaction of the grant: placeholder pods that stand on their nodes
 * at once. Answers why that cannot be, with nothing written; undefined when it is done, or not asked for.
 */
function reserveRoom(
  context: ServerContext,
  transaction: Transaction,
  { grant, now, others, uid }: Reservation & { readonly others: HoldAsk['others'] },
): { budget: BudgetFacts; text: string } | undefined {
  const budget = grant.charge?.view.budget;
  if (budget?.reserve === undefined || grant.room === undefined) return undefined;
  const { ask, where } = grant.room;
  const members = where.filter(({ isFree }) => isFree);
  if (members.length === 0) return undefined;
  const plan = planHold({
    unit: ask.unit,
    budget,
    members,
    grant: uid,
    standing: ask.members.map((member) => member.uid),
    now,
    forMs: budget.reserve.forMs,
    low: budget.reserve.low,
    others,
  });
  if (!plan.made) return { budget, text: plan.text };
  const pods = resourceOf(context, '', 'pods');
  const { namespace } = budget;
  const isThere = ({ metadata }: Pod): boolean =>
    transaction.get(objectKey(pods, namespace, metadata.name ?? '')) !== undefined;
  // One of its name is there from a grant before: it holds the same unit's room.
  const missing = plan.placeholders.filter((pod) => !isThere(pod)) as ApiObject[];
  for (const pod of missing) pods.strategy.defaults?.(pod);
  const refusal = chargeQuotas(context, transaction, {
    resource: pods,
    namespace,
    writes: missing.map((object) => ({ object })),
    now,
  });
  if (refusal !== undefined) return { budget, text: `ReserveFailed: ${refusal}` };
  makeClass(context, transaction, { priority: plan.priority, now });
  for (const object of missing) create(context, transaction, { resource: pods, object, now });
  return undefined;
}

/** Placeholders name a class, as admission would have it. */
function makeClass(
  context: ServerContext,
  transaction: Transaction,
  { now, priority }: { priority: number; now: number },
): void {
  const resource = resourceOf(context, 'scheduling.k8s.io', 'priorityclasses');
  const { name = '' } = holdClassObject(priority).metadata;
  if (transaction.get(objectKey(resource, undefined, name)) !== undefined) return;
  const object = holdClassObject(priority) as unknown as ApiObject;
  create(context, transaction, { resource, object, now });
}

function create(
  context: ServerContext,
  transaction: Transaction,
  { now, object, resource }: { resource: Resource; object: ApiObject; now: number },
): void {
  const { metadata } = object;
  initMetadata(resource, metadata, { now, uid: context.newUid() });
  resource.strategy.prepareForCreate?.(object, { now, random: context.random });
  resource.strategy.defaults?.(object);
  const key = objectKey(resource, metadata.namespace, metadata.name ?? '');
  putObject(context, transaction, { resource, key, object, managedFields: undefined });
}

function resourceOf({ registry }: ServerContext, group: string, plural: string): Resource {
  const resource = registry.byPlural(group, plural);
  if (resource === undefined) throw new Error(`Cannot hold room: ${plural} are not served`);
  return resource;
}
