import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../../api/lws/types.ts';
import { builtinType } from '../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';

/** A kind that a snapshot holds, in the versions to ask for, the first that is served. */
export interface SnapshotKind {
  readonly name: string;
  readonly types: readonly ResourceType<KubeObject>[];
}

const one = (kind: string, group = ''): SnapshotKind => ({ name: kind, types: [builtinType(kind, group)] });

const SCHEDULING = 'scheduling.k8s.io';
const versions = (kind: string, names: readonly string[]): SnapshotKind => ({
  name: kind,
  types: names.map((version) => builtinType(kind, SCHEDULING, version)),
});

/** Everything a snapshot holds, owners before what they own, so that it can be loaded in this order. */
export const SNAPSHOT_KINDS: readonly SnapshotKind[] = [
  one('Namespace'),
  one('PriorityClass', SCHEDULING),
  one('Node'),
  { name: 'LeaderWorkerSet', types: [leaderWorkerSetType as ResourceType, kruiseLeaderWorkerSetType as ResourceType] },
  one('Deployment', 'apps'),
  one('CronJob', 'batch'),
  one('StatefulSet', 'apps'),
  one('DaemonSet', 'apps'),
  one('ReplicaSet', 'apps'),
  one('ReplicationController'),
  one('Job', 'batch'),
  // Only the oldest version says how many replicas a group has, only the newer PodGroups carry a policy.
  versions('Workload', ['v1alpha1', 'v1beta1', 'v1alpha2']),
  versions('PodGroup', ['v1beta1', 'v1alpha2', 'v1alpha1']),
  one('PodDisruptionBudget', 'policy'),
  { name: 'PodUnavailableBudget', types: [POD_UNAVAILABLE_BUDGETS as ResourceType] },
  one('Pod'),
];
