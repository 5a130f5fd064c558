import { reportDefect } from '../machinery/runtime/index.ts';
import type { SchedulerDeps } from './deps.ts';
import type { Entity } from './entity.ts';
import { scheduleGroup } from './schedule-group.ts';
import { schedulePod } from './schedule-pod.ts';

/** How long scheduling may keep the process to itself before requests and events get their turn. */
const SLICE_MS = 10;

/** Tries everything that is active, most urgent first. */
export async function runRound(deps: SchedulerDeps): Promise<void> {
  const durations = deps.metrics.histogram('scheduler_scheduling_attempt_duration_seconds');
  const { clock } = deps;
  let sliceStart = clock.elapsed();
  for (let entity = deps.queue.take(); entity !== undefined; entity = deps.queue.take()) {
    const start = clock.elapsed();
    attempt(deps, entity);
    const end = clock.elapsed();
    durations.observe((end - start) / 1000);
    if (end - sliceStart > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceStart = clock.elapsed();
    }
  }
}

function attempt(deps: SchedulerDeps, entity: Entity): void {
  try {
    if (entity.group !== undefined) {
      scheduleGroup(deps, entity, entity.group);
      return;
    }
    const known = deps.book.get(entity.key.slice('pod:'.length));
    if (known?.standing === 'pending') schedulePod(deps, entity, known);
    else deps.queue.remove(entity.key);
  } catch (error) {
    reportDefect(error);
    // A bug in one decision must not stop the others; the entity comes back after its rest.
    deps.log.error(
      { entity: entity.key, error: error instanceof Error ? error.stack : String(error) },
      'an attempt to schedule failed',
    );
    deps.queue.retry(entity, 1);
  }
}
