import { controllerOf } from '../../api/core/owner.ts';
import type { ReplicaSet, StatefulSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { replicaSetType, statefulSetType } from '../../api/resource-types.ts';
import { BudgetIndexes, targetsAbove } from '../../decisions/unavailability/index.ts';
import { type Client, isForbidden, isNotFound } from '../../machinery/runtime/index.ts';
import { listAll } from '../disruption/gather.ts';

export interface UnavailabilityState {
  readonly unavailability: BudgetIndexes;
  /** LeaderWorkerSets whose groups restart as a whole, as `namespace/name`. */
  readonly wholesaleSets: ReadonlySet<string>;
}

/** PodUnavailableBudgets with what they cover, and the sets whose groups restart as one; nothing where they are not served. */
export async function gatherUnavailability(client: Client, pods: readonly Pod[]): Promise<UnavailabilityState> {
  const [budgets, sets] = await Promise.all([
    listServed(client, POD_UNAVAILABLE_BUDGETS),
    listServed(client, leaderWorkerSetType),
  ]);
  const unavailability = new BudgetIndexes();
  const wholesaleSets = new Set(
    sets
      .filter(({ spec }) => (spec?.leaderWorkerTemplate?.restartPolicy ?? 'RecreateGroupOnPodRestart') !== 'None')
      .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`),
  );
  if (budgets.length === 0) return { unavailability, wholesaleSets };
  const middle = new Map<string, ReplicaSet | StatefulSet>();
  for (const type of [replicaSetType, statefulSetType] as readonly ResourceType<ReplicaSet | StatefulSet>[]) {
    for (const object of await listServed(client, type)) middle.set(object.metadata.uid ?? '', object);
  }
  for (const budget of budgets) unavailability.of(budget.metadata.namespace ?? '').setBudget(budget);
  for (const pod of pods) {
    const targets = targetsAbove(pod, ({ uid }) => {
      const owner = middle.get(uid);
      return owner === undefined ? undefined : controllerOf(owner);
    });
    unavailability.of(pod.metadata.namespace ?? '').setPod({ pod, targets });
  }
  return { unavailability, wholesaleSets };
}

async function listServed<T extends KubeObject>(client: Client, type: ResourceType<T>): Promise<T[]> {
  try {
    return await listAll(client, type, undefined);
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return [];
    throw error;
  }
}
