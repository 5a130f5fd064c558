/** The kinds that tests address most, each tied to its object's type. */
import type { PodGroup, Workload } from '../api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../api/registry.ts';
import type { ResourceType } from '../api/resource.ts';

export type { PodUnavailableBudget } from '../api/kruise/types.ts';
export { POD_UNAVAILABLE_BUDGETS as podUnavailableBudgetType } from '../api/kruise/types.ts';
export type { LeaderWorkerSet } from '../api/lws/types.ts';
export { leaderWorkerSetType } from '../api/lws/types.ts';
export * from '../api/resource-types.ts';
export type { PodGroup, Workload };

export const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1beta1') as ResourceType<PodGroup>;
export const workloadType = builtinType('Workload', 'scheduling.k8s.io', 'v1beta1') as ResourceType<Workload>;
