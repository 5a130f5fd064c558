import { controllerOf } from '../api/core/owner.ts';
import type { RefusedRequest } from '../decisions/unavailability/index.ts';
import type { EventRecorder, Logger, Metrics } from '../machinery/runtime/index.ts';

export interface RefusalSinks {
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** Tells of refusals by PodUnavailableBudgets: two counters, an event on the pod, a line in the log. */
export function createRefusalRecorder({ events, log, metrics }: RefusalSinks): (refused: RefusedRequest) => void {
  const refusals = metrics.counter('pod_unavailable_budget');
  const denials = metrics.counter('pod_unavailable_budget_group_denials_total');
  return ({ budgets, operation, pod, username }) => {
    const { name = '', namespace = '' } = pod.metadata;
    const owner = controllerOf(pod);
    refusals.inc({ kind_namespace_name: `${owner?.kind ?? 'unknown'}_${namespace}_${owner?.name ?? name}`, username });
    for (const budget of budgets) {
      if (!budget.grouped) continue;
      const { constraint = 'none' } = budget;
      denials.inc({ namespace: budget.namespace, name: budget.name, operation, constraint });
    }
    const subject = { ...pod, apiVersion: 'v1', kind: 'Pod' };
    events.record(subject, 'Warning', 'PubPreventPodDeletion', 'openkruise pub prevents pod deletion');
    log.info(
      { namespace, pod: name, operation, username, budgets: budgets.map((budget) => budget.name) },
      'a PodUnavailableBudget refused a request',
    );
  };
}
