import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../../api/lws/types.ts';
import { builtinType } from '../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { COMPOSITE_TYPES, POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';

/** A kind that a snapshot holds, in the versions to ask for, the first that is served. */
export interface SnapshotKind {
  readonly name: string;
  readonly types: readonly ResourceType<KubeObject>[];
}

const one = (kind: string, group = ''): SnapshotKind => ({ name: kind, types: [builtinType(kind, group)] });

const SCHEDULING = 'scheduling.k8s.io';

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
  { name: 'Workload', types: WORKLOAD_TYPES },
  { name: 'CompositePodGroup', types: COMPOSITE_TYPES },
  { name: 'PodGroup', types: POD_GROUP_TYPES },
  one('PodDisruptionBudget', 'policy'),
  { name: 'PodUnavailableBudget', types: [POD_UNAVAILABLE_BUDGETS as ResourceType] },
  one('Pod'),
];
