import { isFinished, type Maintenance, type MaintenanceSpec, maintenanceType } from '../../api/quorate/maintenance.ts';
import { ApiError, isForbidden, isNotFound, sleep } from '../../machinery/runtime/index.ts';
import { type DrainDeps, POLL_MS } from './drain.ts';

/** A Maintenance that nobody has looked at for so long has no controller. */
const UNSEEN_MS = 15_000;

export type FollowOutcome = 'Drained' | 'TimedOut' | 'Failed' | 'Paused';

export interface Followed {
  readonly name: string;
  readonly outcome: FollowOutcome;
  /** What it came to, where it did not drain its nodes. */
  readonly text?: string | undefined;
}

/**
 * Makes a Maintenance of a drain and follows it until its nodes are empty; what it took down it goes on to wait for.
 * Undefined where that is not possible: Maintenances are not served, not allowed, or nobody carries them out. Then nothing
 * was touched.
 */
export async function followDrain(
  { client, clock, report }: DrainDeps,
  spec: MaintenanceSpec,
  isStopped: () => boolean,
): Promise<Followed | undefined> {
  const made = await create({ client }, spec);
  if (made === undefined) return undefined;
  const { name = '' } = made.metadata;
  report.step(`maintenance ${name} created`);
  const madeAt = clock.now();
  for (let seen: Maintenance = made; ; seen = await client.get(maintenanceType, { name })) {
    const outcome = outcomeOf(seen);
    if (outcome !== undefined) return { name, ...outcome };
    if (isStopped()) {
      await client.patch(maintenanceType, { name }, { type: 'merge', body: { spec: { paused: true } } });
      return { name, outcome: 'Paused' };
    }
    if (seen.status?.phase === undefined && clock.now() - madeAt >= UNSEEN_MS) {
      await client.delete(maintenanceType, { name }, { preconditions: { uid: seen.metadata.uid } });
      report.step(`maintenance ${name} deleted: nobody carries it out`);
      return undefined;
    }
    if (seen.status?.plan !== undefined) report.progress(progressOf(seen));
    await sleep(clock, POLL_MS);
  }
}

async function create({ client }: Pick<DrainDeps, 'client'>, spec: MaintenanceSpec): Promise<Maintenance | undefined> {
  try {
    return await client.create(maintenanceType, { metadata: { generateName: 'drain-' }, spec });
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    if (error instanceof ApiError && error.code === 405) return undefined;
    throw error;
  }
}

function outcomeOf(maintenance: Maintenance): Omit<Followed, 'name'> | undefined {
  const { nodesDrained = 0, nodesTotal = 0, phase, conditions = [] } = maintenance.status ?? {};
  if (isFinished(maintenance) && phase !== 'Done') {
    const failed = conditions.find(({ status, type }) => type === 'Failed' && status === 'True');
    const text = failed?.message ?? 'it was cancelled';
    return { outcome: failed?.reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed', text };
  }
  if (phase === 'Done' || (nodesTotal > 0 && nodesDrained === nodesTotal)) return { outcome: 'Drained' };
  return undefined;
}

function progressOf({ status }: Maintenance): Parameters<DrainDeps['report']['progress']>[0] {
  const evictions = status?.plan?.steps.flatMap((step) => step.evictions) ?? [];
  const count = (all: typeof evictions): number => all.reduce((sum, { pods }) => sum + pods.length, 0);
  return {
    total: count(evictions),
    left: count(evictions.filter(({ begun }) => begun !== true)),
    groupsDown: status?.groups?.downTotal ?? 0,
    waitingFor: status?.summary?.waitsFor,
  };
}
