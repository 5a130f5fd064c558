import { PROTECTED_OPERATIONS, type PodUnavailableBudgetStatus } from '../../../api/kruise/types.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import type { Metrics } from '../../../machinery/runtime/index.ts';

export interface BudgetGauges {
  set(key: ObjectKey, status: PodUnavailableBudgetStatus): void;
  forget(key: ObjectKey): void;
}

const STATES = ['expected', 'available', 'unavailable'] as const;

/** What dashboards read of budgets that count groups. A budget's series go with it. */
export function createBudgetGauges(metrics: Metrics): BudgetGauges {
  const groups = metrics.gauge('pod_unavailable_budget_groups');
  const ungrouped = metrics.gauge('pod_unavailable_budget_ungrouped_pods');
  const forget = ({ name, namespace = '' }: ObjectKey): void => {
    for (const state of STATES) groups.remove({ namespace, name, state });
    ungrouped.remove({ namespace, name });
  };
  const forgetAll = (key: ObjectKey): void => {
    forget(key);
    const denials = metrics.counter('pod_unavailable_budget_group_denials_total');
    const { name, namespace = '' } = key;
    for (const operation of PROTECTED_OPERATIONS) {
      for (const constraint of ['maxUnavailable', 'minAvailable', 'none']) {
        denials.remove({ namespace, name, operation, constraint });
      }
    }
  };
  return {
    set(key, { currentAvailable = 0, groupStatus, totalReplicas = 0 }) {
      if (groupStatus === undefined) {
        forget(key);
        return;
      }
      const { name, namespace = '' } = key;
      groups.set({ namespace, name, state: 'expected' }, totalReplicas);
      groups.set({ namespace, name, state: 'available' }, currentAvailable);
      groups.set({ namespace, name, state: 'unavailable' }, groupStatus.unavailableGroups ?? 0);
      ungrouped.set({ namespace, name }, groupStatus.ungroupedPods ?? 0);
    },
    forget: forgetAll,
  };
}
