import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import { type Maintenance, type MaintenanceStatus, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { gatherWaits } from '../../../cluster-state/gather-waits.ts';
import { CannotTellError } from '../../../cluster-state/index.ts';
import { setCondition } from '../../../decisions/disruption/index.ts';
import { stepBack } from '../../../decisions/maintenance/index.ts';
import {
  type Deadlock,
  drainId,
  findDeadlocks,
  othersIn,
  type ReadDrain,
  readDrains,
  type SteadyDeadlocks,
  tellDeadlock,
} from '../../../decisions/waits/index.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';

export interface DrainWaitsDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly maintenances: Informer<Maintenance>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly steady: SteadyDeadlocks;
  /** Deadlocks that were told of, by their members. */
  readonly told: Set<string>;
  readonly deadlocks: { inc(by?: number): void };
}

/** Pods that have no node. */
export const UNBOUND = 'drain-waits-unbound';

/** One look. What is told of a deadlock is told in every drain of it; with `Yield` the cheapest of them steps back. */
export async function lookAtWaits(deps: DrainWaitsDeps): Promise<void> {
  const now = deps.clock.now();
  const drains = readDrains(deps.maintenances.list(), now);
  const found = deps.steady.look(await findAll(deps, drains, now), now);
  const keys = new Set(found.map(keyOf));
  for (const known of deps.told) if (!keys.has(known)) deps.told.delete(known);
  for (const deadlock of found) {
    if (deps.told.has(keyOf(deadlock))) continue;
    deps.told.add(keyOf(deadlock));
    deps.deadlocks.inc();
    for (const { id, maintenance } of drains) {
      if (!deadlock.drains.includes(id)) continue;
      const about = { ...maintenance, apiVersion: apiVersionOf(maintenanceType), kind: maintenanceType.kind };
      deps.events.record(about, 'Warning', 'DeadlockFound', tellDeadlock(deadlock));
    }
  }
  for (const drain of drains) {
    await write(
      deps,
      drain,
      found.find((one) => one.drains.includes(drain.id)),
    );
  }
}

const keyOf = ({ members }: Deadlock): string => members.join('\n');

async function findAll(deps: DrainWaitsDeps, drains: readonly ReadDrain[], now: number): Promise<Deadlock[]> {
  const stuck = drains.filter(({ isLive }) => !isLive);
  if (stuck.length === 0) return [];
  // Without a pod that waits for a node nobody waits for room: drains can only wait for claims of each other.
  if (deps.pods.byIndex(UNBOUND, '').length === 0 && stuck.every(({ homeless }) => homeless.length === 0)) {
    const claims = drains.map((one) => ({
      ...one,
      isLive: one.isLive || !one.waitsFor.every((id) => id.startsWith(drainId(''))),
    }));
    return findDeadlocks({ drains: claims, budgets: [], groups: [], rooms: [] });
  }
  try {
    return findDeadlocks(await gatherWaits(deps.client, drains, now));
  } catch (error) {
    // What may not be read is no reason for an alarm.
    if (error instanceof CannotTellError) return [];
    throw error;
  }
}

async function write(
  { client, clock, maintenances }: DrainWaitsDeps,
  drain: ReadDrain,
  deadlock: Deadlock | undefined,
): Promise<void> {
  const name = drain.maintenance.metadata.name ?? '';
  const cached = maintenances.get({ name });
  // Its own controller writes the first status.
  if (cached?.status?.phase === undefined || isSaid(cached.status, drain, deadlock)) return;
  try {
    const maintenance = await client.get(maintenanceType, { name });
    if (maintenance.metadata.uid !== drain.maintenance.metadata.uid || maintenance.status === undefined) return;
    const status = told(maintenance, drain, deadlock, clock.now());
    if (!semanticEqual(maintenance.status, status))
      await client.updateStatus(maintenanceType, { ...maintenance, status });
  } catch (error) {
    // Somebody else wrote, or it is gone: the next look tells.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function isSaid(status: MaintenanceStatus, drain: ReadDrain, deadlock: Deadlock | undefined): boolean {
  const said = status.conditions?.find(({ type }) => type === 'Deadlocked');
  const isSame = deadlock === undefined ? said?.status !== 'True' : said?.message === tellDeadlock(deadlock);
  return isSame && semanticEqual(status.waitsFor ?? [], waitsOf(drain));
}

/** A drain that gets on waits for nothing. */
const waitsOf = ({ isLive, waitsFor }: ReadDrain): string[] => (isLive ? [] : [...waitsFor]);

function told(
  maintenance: Maintenance,
  drain: ReadDrain,
  deadlock: Deadlock | undefined,
  now: number,
): MaintenanceStatus {
  const { metadata, spec, status = {} } = maintenance;
  const { waitsFor: _, ...rest } = status;
  const waits = waitsOf(drain);
  const condition: Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'observedGeneration'> = {
    type: 'Deadlocked',
    observedGeneration: metadata.generation,
    ...(deadlock === undefined
      ? { status: 'False', reason: 'NoCycle', message: '' }
      : { status: 'True', reason: 'CycleFound', message: tellDeadlock(deadlock) }),
  };
  const name = metadata.name ?? '';
  const others = othersIn(deadlock?.drains ?? [], name);
  const yields = deadlock?.pause === drainId(name) && spec?.onDeadlock === 'Yield' && others.length > 0;
  return {
    ...rest,
    ...(waits.length > 0 && { waitsFor: waits }),
    ...(yields && { yielded: stepBack(status.yielded, others, now) }),
    conditions: setCondition(status.conditions ?? [], condition, now),
  };
}
