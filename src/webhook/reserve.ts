/** Room that is held before a grant on a cluster: placeholder pods, which the cluster's scheduler puts where they belong. */
import type { Pod } from '../api/generated/core-v1.ts';
import { builtinType } from '../api/registry.ts';
import { podType } from '../api/resource-types.ts';
import { HOLD_FOR, holdClassObject, isPlaceholder, planHold } from '../decisions/capacity/index.ts';
import {
  type BudgetFacts,
  type DisruptionIndex,
  type Grant,
  HOLD_LABEL,
  type RefusalAnswer,
  reserveFailed,
  reserving,
} from '../decisions/disruption/index.ts';
import { ApiError, type Client, type Clock, isAlreadyExists, isNotFound } from '../machinery/runtime/index.ts';

export interface RoomHolder {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  /** Told of room that a budget wants held and that was granted without. */
  readonly notHeld?: ((budget: { readonly namespace: string; readonly name: string }, why: string) => void) | undefined;
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
  { dryRun, grant, uid }: { grant: Grant; uid: string; dryRun: boolean },
): Promise<Reserved> {
  const { clock, index } = holder;
  const budget = grant.charge?.view.budget;
  if (budget?.reserve === undefined || grant.room === undefined) return { isHeld: false };
  const { ask, where } = grant.room;
  const members = where.filter(({ isFree }) => isFree);
  if (members.length === 0) return { isHeld: false };
  const plan = planHold({
    unit: ask.unit,
    budget,
    members,
    grant: uid,
    standing: ask.members.map((member) => member.uid),
    now: clock.now(),
    forMs: budget.reserve.forMs,
    low: budget.reserve.low,
    others: index.room?.heldForOthers(ask.unit) ?? { placeholders: 0, units: 0 },
  });
  if (!plan.made) return failed(holder, budget, plan.text, dryRun);
  const there = await listPlaceholders(holder.client, budget.namespace, ask.unit);
  const bound = there.filter(({ spec }) => Boolean(spec?.nodeName)).length;
  const names = new Set(there.map(({ metadata }) => metadata.name));
  const missing = plan.placeholders.filter(({ metadata }) => !names.has(metadata.name));
  if (missing.length === 0 && bound === there.length) return { isHeld: true };
  if (dryRun) return { isHeld: false };
  const refusal = await createAll(holder.client, missing.slice(0, MAX_CREATED), plan.priority);
  if (refusal !== undefined) return failed(holder, budget, `ReserveFailed: ${refusal}`, dryRun);
  const of = plan.placeholders.length;
  return { isHeld: false, refused: { reason: 'Reserving', answer: reserving(budget.name, { bound, of }) } };
}

function failed({ notHeld }: RoomHolder, budget: BudgetFacts, text: string, dryRun: boolean): Reserved {
  if (budget.reserve?.onFailure === 'Proceed') {
    if (!dryRun) notHeld?.(budget, text);
    return { isHeld: false };
  }
  return { isHeld: false, refused: { reason: 'ReserveFailed', answer: reserveFailed(budget.name, text) } };
}

/** Read and not taken from a copy: one that is not seen yet would be made a second time. */
async function listPlaceholders(client: Client, namespace: string, unit: string): Promise<Pod[]> {
  const { items } = await client.list(podType, { namespace, labelSelector: `${HOLD_LABEL}=true` });
  return items.filter(
    (pod) =>
      isPlaceholder(pod) &&
      pod.metadata.annotations?.[HOLD_FOR] === unit &&
      pod.metadata.deletionTimestamp === undefined &&
      pod.status?.phase !== 'Failed',
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
