import type { Pod } from '../../api/generated/core-v1.ts';
import {
  HOLD_PREFIX,
  type HoldAsk,
  holdClassObject,
  holdsElsewhere,
  planHold,
} from '../../decisions/capacity/index.ts';
import {
  type DisruptionIndex,
  type FoundRoom,
  type Grant,
  keepPlaces,
  evictedUid,
  reserveFailed,
  type RoomJudge,
  roomToHold,
  withCauses,
} from '../../decisions/disruption/index.ts';
import { roomsToHold } from '../../decisions/unavailability/index.ts';
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
  /** The places of a grant. */
  readonly room: FoundRoom;
  /** UID of the pod that is evicted. */
  readonly uid: string;
  readonly now: number;
}

/** Keeps the room that a grant of a PodDisruptionBudget rests on. */
export function holdRoom(
  { context, index }: { context: ServerContext; index: DisruptionIndex },
  transaction: Transaction,
  { grant, now, uid }: { readonly grant: Grant } & Omit<Reservation, 'room'>,
): void {
  const room = roomToHold(grant);
  if (room !== undefined) holdFoundRoom({ context, judge: index.room }, transaction, { room, uid, now });
}

/** Keeps the room that grants of PodUnavailableBudgets rest on. */
export function holdRooms(
  parts: { context: ServerContext; judge: RoomJudge | undefined },
  transaction: Transaction,
  rooms: readonly FoundRoom[],
  now: number,
): void {
  for (const room of roomsToHold(rooms)) holdFoundRoom(parts, transaction, { room, uid: evictedUid(room), now });
}

/**
 * Keeps the room that a grant rests on: by placeholders where its budget asks for them, by a promise otherwise.
 * @throws what the eviction is answered with where room must be held and cannot be
 */
function holdFoundRoom(
  { context, judge }: { context: ServerContext; judge: RoomJudge | undefined },
  transaction: Transaction,
  reservation: Reservation,
): void {
  const { now, room } = reservation;
  const others = judge?.heldForOthers(room.ask.unit) ?? NONE;
  const failed = reserveRoom(context, transaction, { ...reservation, others });
  if (failed !== undefined && room.hold?.reserve.onFailure === 'Refuse') {
    throw refusalError(withCauses(reserveFailed(room.hold.budget.name, failed)));
  }
  keepPlaces(judge, room, now, room.hold !== undefined && failed === undefined);
}

/**
 * Holds the room that was found for a unit, in the transaction of the grant: placeholder pods that stand on their nodes
 * at once. Answers why that cannot be, with nothing written; undefined when it is done, or not asked for.
 */
function reserveRoom(
  context: ServerContext,
  transaction: Transaction,
  { now, others, room, uid }: Reservation & { readonly others: HoldAsk['others'] },
): string | undefined {
  if (room.hold === undefined) return undefined;
  const { ask, where } = room;
  const { budget, reserve } = room.hold;
  const members = where.filter(({ isFree }) => isFree);
  if (members.length === 0) return undefined;
  const plan = planHold({
    unit: ask.unit,
    budget,
    members,
    grant: uid,
    standing: ask.members.map((member) => member.uid),
    now,
    forMs: reserve.forMs,
    low: reserve.low,
    others,
  });
  if (!plan.made) return plan.text;
  const pods = resourceOf(context, '', 'pods');
  const { namespace } = budget;
  // A budget of the other kind has had the places of these pods held: that will do.
  const held = [...transaction.range(`${objectKey(pods, namespace, '')}${HOLD_PREFIX}`)];
  if (held.some((entry) => holdsElsewhere(context.objects.readOften(entry), ask))) return undefined;
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
  if (refusal !== undefined) return `ReserveFailed: ${refusal}`;
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
