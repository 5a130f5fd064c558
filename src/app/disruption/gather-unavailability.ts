import { controllerOf } from '../../api/core/owner.ts';
import type { ReplicaSet, StatefulSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../api/kruise/types.ts';
import { replicaSetType, statefulSetType } from '../../api/resource-types.ts';
import { BudgetIndex, targetsAbove } from '../../decisions/unavailability/index.ts';
import { type Client, isForbidden, isNotFound } from '../../machinery/runtime/index.ts';
import { listAll } from './gather.ts';

export interface UnavailabilityState {
  readonly index: BudgetIndex;
  /** Replicas an owner asks for, by uid; undefined when nobody knows. */
  readonly scaleOf: (uid: string) => number | undefined;
}

/** Reads what decisions about PodUnavailableBudgets of one namespace need. Without any budget nothing is read. */
export async function gatherUnavailability(
  client: Client,
  namespace: string,
  pods: readonly Pod[],
): Promise<UnavailabilityState> {
  const index = new BudgetIndex();
  const budgets = await listBudgets(client, namespace);
  if (budgets.length === 0) return { index, scaleOf: () => undefined };
  const owners = new Map<string, ReplicaSet | StatefulSet>();
  const sets = [
    ...(await listAll(client, replicaSetType, namespace)),
    ...(await listAll(client, statefulSetType, namespace)),
  ];
  for (const set of sets) owners.set(set.metadata.uid ?? '', set);
  for (const budget of budgets) index.setBudget(budget);
  for (const pod of pods) {
    const above = ({ uid }: { uid: string }) => {
      const owner = owners.get(uid);
      return owner === undefined ? undefined : controllerOf(owner);
    };
    index.setPod({ pod, targets: targetsAbove(pod, above) });
  }
  return {
    index,
    scaleOf(uid) {
      const owner = owners.get(uid);
      return owner === undefined ? undefined : (owner.spec?.replicas ?? 1);
    },
  };
}

/** None where the cluster does not have the kind, or keeps it from us. */
async function listBudgets(client: Client, namespace: string): Promise<PodUnavailableBudget[]> {
  try {
    return await listAll(client, POD_UNAVAILABLE_BUDGETS, namespace);
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return [];
    throw error;
  }
}
