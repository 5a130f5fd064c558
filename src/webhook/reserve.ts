/** Room that is held before a grant on a cluster: placeholder pods, which the cluster's scheduler puts where they belong. */
import type { Pod } from '../api/generated/core-v1.ts';
import { builtinType } from '../api/registry.ts';
import { podType } from '../api/resource-types.ts';
import { HOLD_FOR, holdClassObject, holdsElsewhere, isPlaceholder, planHold } from '../decisions/capacity/index.ts';
import {
  evictedUid,
  type FoundRoom,
  HOLD_LABEL,
  type HoldingBudget,
  type RefusalAnswer,
  reserveFailed,
  reserving,
  type RoomJudge,
} from '../decisions/disruption/index.ts';
import { roomsToHold } from '../decisions/unavailability/index.ts';
import { ApiError, type Client, type Clock, isAlreadyExists, isNotFound } from '../machinery/runtime/index.ts';

export interface RoomHolder {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: { readonly room: RoomJudge | undefined };
  /** Told of room that a budget wants held and that was granted without. */
  readonly notHeld?: ((budget: HoldingBudget, why: string) => void) | undefined;
}

export interface Reserved {
  /** Why the eviction has to wait. */
  readonly refused?: { readonly reason: 'Reserving' | 'ReserveFailed'; readonly answer: RefusalAnswer } | undefined;
  /** All that was free is held by placeholders. */
  readonly isHeld: boolean;
}

const priorityClassType = builtinType('PriorityClass', 'scheduling.k8s.io');

/** With two seconds between tries, twenty a second. */
const MAX_CREATED = 40;

/**
 * Sees to it that the room of a grant is held, where its budget asks for that. Placeholders are named after the unit, so
 * that replicas which do this at once make the same ones, and whoever comes after a crash makes the rest. Until all of
 * them stand on their nodes the eviction waits; nothing waits in here.
 */
export async function reserveRoom(
  holder: RoomHolder,
  { dryRun, room, uid }: { room: FoundRoom | undefined; uid: string; dryRun: boolean },
): Promise<Reserved> {
  const { clock, index } = holder;
  if (room?.hold === undefined) return { isHeld: false };
  const { ask, hold, where } = room;
  const { budget, reserve } = hold;
  const members = where.filter(({ isFree }) => isFree);
  if (members.length === 0) return { isHeld: false };
  const plan = planHold({
    unit: ask.unit,
    budget,
    members,
    grant: uid,
    standing: ask.members.map((member) => member.uid),
    now: clock.now(),
    forMs: reserve.forMs,
    low: reserve.low,
    others: index.room?.heldForOthers(ask.unit) ?? { placeholders: 0, units: 0 },
  });
  if (!plan.made) return failed(holder, hold, plan.text, dryRun);
  const standing = await listPlaceholders(holder.client, budget.namespace);
  const others = standing.filter((pod) => holdsElsewhere(pod, ask));
  if (others.length > 0) return heldByOthers(budget, others, dryRun);
  const there = standing.filter(({ metadata }) => metadata.annotations?.[HOLD_FOR] === ask.unit);
  const bound = there.filter(({ spec }) => Boolean(spec?.nodeName)).length;
  const names = new Set(there.map(({ metadata }) => metadata.name));
  const missing = plan.placeholders.filter(({ metadata }) => !names.has(metadata.name));
  if (missing.length === 0 && bound === there.length) return { isHeld: true };
  if (dryRun) return { isHeld: false };
  const refusal = await createAll(holder.client, missing.slice(0, MAX_CREATED), plan.priority);
  if (refusal !== undefined) return failed(holder, hold, `ReserveFailed: ${refusal}`, dryRun);
  const of = plan.placeholders.length;
  return { isHeld: false, refused: { reason: 'Reserving', answer: reserving(budget.name, { bound, of }) } };
}

/** A budget of the other kind has had the places of these pods held already: that will do. */
function heldByOthers(budget: HoldingBudget, others: readonly Pod[], dryRun: boolean): Reserved {
  const bound = others.filter(({ spec }) => Boolean(spec?.nodeName)).length;
  if (bound === others.length || dryRun) return { isHeld: bound === others.length };
  const answer = reserving(budget.name, { bound, of: others.length });
  return { isHeld: false, refused: { reason: 'Reserving', answer } };
}

type Hold = NonNullable<FoundRoom['hold']>;

function failed({ notHeld }: RoomHolder, { budget, reserve }: Hold, text: string, dryRun: boolean): Reserved {
  if (reserve.onFailure === 'Proceed') {
    if (!dryRun) notHeld?.(budget, text);
    return { isHeld: false };
  }
  return { isHeld: false, refused: { reason: 'ReserveFailed', answer: reserveFailed(budget.name, text) } };
}

/** Read and not taken from a copy: one that is not seen yet would be made a second time. */
async function listPlaceholders(client: Client, namespace: string): Promise<Pod[]> {
  const { items } = await client.list(podType, { namespace, labelSelector: `${HOLD_LABEL}=true` });
  return items.filter(
    (pod) => isPlaceholder(pod) && pod.metadata.deletionTimestamp === undefined && pod.status?.phase !== 'Failed',
  );
}

/** Why not all of them could be made; those that were are taken back then. */
async function createAll(client: Client, pods: readonly Pod[], priority: number): Promise<string | undefined> {
  const made: Pod[] = [];
  try {
    await makeClass(client, priority);
    for (const pod of pods) {
      const created = await create(client, pod);
      if (created !== undefined) made.push(created);
    }
    return undefined;
  } catch (error) {
    for (const { metadata } of made) await remove(client, metadata);
    // A budget's, a quota's or a policy's word; anything else is trouble, and not an answer.
    if (error instanceof ApiError && error.code < 500 && error.code !== 429) return error.message;
    throw error;
  }
}

/** Undefined where one of its name is there: another replica made it, or it is on its way out. */
async function create(client: Client, { spec, ...pod }: Pod): Promise<Pod | undefined> {
  // The scheduler puts it there, by its affinity: nobody else knows whether the room is still free.
  const { nodeName: _, ...unbound } = spec ?? { containers: [] };
  try {
    return await client.create(podType, { ...pod, spec: unbound });
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}

async function remove(client: Client, { name = '', namespace, uid }: Pod['metadata']): Promise<void> {
  try {
    await client.delete(podType, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function makeClass(client: Client, priority: number): Promise<void> {
  const wanted = holdClassObject(priority);
  try {
    await client.get(priorityClassType, { name: wanted.metadata.name ?? '' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(priorityClassType, wanted).catch((lost: unknown) => {
      if (!isAlreadyExists(lost)) throw lost;
    });
  }
}

/** The same for budgets of several kinds; the answer of the first that cannot be held yet. */
export async function reserveRooms(
  holder: RoomHolder,
  { dryRun, rooms }: { rooms: readonly FoundRoom[]; dryRun: boolean },
): Promise<{ readonly held: ReadonlySet<FoundRoom>; readonly refused?: RefusalAnswer | undefined }> {
  const held = new Set<FoundRoom>();
  for (const room of roomsToHold(rooms)) {
    const { isHeld, refused } = await reserveRoom(holder, { room, uid: evictedUid(room), dryRun });
    if (refused !== undefined) return { held, refused: refused.answer };
    if (isHeld) held.add(room);
  }
  return { held };
}
