import type { Pod } from '../../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../../api/kruise/types.ts';
import type { BudgetIndex } from '../../../decisions/unavailability/index.ts';
import type { Informer } from '../../../machinery/runtime/index.ts';
import type { HeldPod, HeldUnit, HoldingBudgets } from '../../shared/holds/index.ts';

interface Counted {
  readonly budgets: Informer<PodUnavailableBudget>;
  readonly index: (namespace: string) => BudgetIndex;
}

/** PodUnavailableBudgets under which room is held. */
export function holdingUnavailableBudgets({ budgets, index }: Counted): HoldingBudgets {
  return {
    kind: POD_UNAVAILABLE_BUDGETS.kind,
    get: (key) => budgets.get(key),
    // A pod that is gone is known to none of them any more.
    concernedBy: ({ metadata: { namespace = '' } }: Pod) =>
      [...index(namespace).budgets()].map(({ budget }) => budget.metadata.name ?? ''),
    membersOf({ budget, heldAt, namespace, unit }: HeldUnit) {
      const tally = index(namespace).budget(budget)?.tally;
      let minCount = 1;
      const pods: HeldPod[] = [];
      for (const { createdAtMs, group, name, serving, uid } of tally?.pods.values() ?? []) {
        if (group !== undefined) {
          if (`${namespace}/${group}` !== unit) continue;
          minCount = tally?.group(group)?.needed ?? 1;
        } else if (`${namespace}/${name}` !== unit && createdAtMs < heldAt) continue;
        pods.push({ name, uid, up: serving });
      }
      return { pods, minCount };
    },
  };
}
