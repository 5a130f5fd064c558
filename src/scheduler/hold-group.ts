import type { GroupTree } from '../decisions/gang/index.ts';
import type { SchedulerDeps } from './deps.ts';
import type { Entity } from './entity.ts';
import type { KnownPod } from './pod-book.ts';
import { reportFailure, reportTree } from './report.ts';

/** Groups are created piece by piece; what is missing for a moment is not worth telling. */
const GRACE_MS = 2000;

/** Keeps a group until it changes and, if it is still held a little later, tells its pods what is missing. */
export function holdGroup(
  deps: SchedulerDeps,
  entity: Entity,
  { group, message, pending }: { message: string; pending: readonly KnownPod[]; group?: GroupTree },
): void {
  deps.queue.hold(entity);
  const since = entity.stateSince;
  const { order } = entity;
  deps.clock.after(GRACE_MS, () => {
    const now = deps.queue.get(entity.key);
    if (now?.state !== 'held' || now.stateSince !== since || now.order !== order) return;
    const text = `Waiting: ${message}`;
    for (const known of pending) if (known.standing === 'pending') reportFailure(deps, known, text);
    if (group !== undefined) reportTree(deps, group, 'Unschedulable', text);
  });
}
