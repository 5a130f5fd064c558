import type { Placement, PodFacts } from '../decisions/gang/index.ts';
import type { SchedulerDeps } from './deps.ts';

export interface PreemptionOrder {
  readonly nominations: readonly Placement[];
  readonly victims: readonly PodFacts[];
  /** Who takes the place, for the victims' events. */
  readonly by: string;
}

/**
 * Removes the victims and promises their room to the preemptors, so that nobody less important takes it meanwhile.
 * A victim that is not bound yet only gives its place back.
 */
export function carryOutPreemption(deps: SchedulerDeps, { by, nominations, victims }: PreemptionOrder): void {
  const { book, cluster, log, metrics, permit, queue, schedulerName, status } = deps;
  for (const { node, pod } of nominations) {
    for (const other of cluster.node(node)?.nominated.values() ?? []) {
      if (other.priority >= pod.priority) continue;
      cluster.withdrawNomination(other.uid);
      status.nominated(other.uid, '');
    }
    cluster.nominate(pod, node);
    status.nominated(pod.uid, node);
  }
  for (const victim of victims) {
    const known = book.get(victim.uid);
    if (known === undefined) continue;
    if (permit.isWaiting(known)) {
      permit.drop(known);
      book.release(known);
      queue.notify('PodGone');
    } else {
      deps.victims.add(known, { by, schedulerName });
    }
  }
  metrics.counter('scheduler_preemption_victims_total').inc(victims.length);
  log.info({ by, victims: victims.map(({ name, namespace }) => `${namespace}/${name}`) }, 'preempting pods');
}
