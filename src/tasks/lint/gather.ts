import { disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import {
  daemonSetType,
  deploymentType,
  jobType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../api/resource-types.ts';
import { COMPOSITE_TYPES, POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { ClusterReader } from '../../cluster-state/cluster-reader.ts';

const jobSetType: ResourceType = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  kind: 'JobSet',
  plural: 'jobsets',
  namespaced: true,
};

/** What rules look at, each in the first version that is served; a cluster need not have the kinds of extensions. */
const KINDS: readonly (readonly ResourceType[])[] = [
  [podDisruptionBudgetType],
  [POD_UNAVAILABLE_BUDGETS],
  WORKLOAD_TYPES,
  COMPOSITE_TYPES,
  POD_GROUP_TYPES,
  [deploymentType],
  [statefulSetType],
  [replicaSetType],
  [replicationControllerType],
  [daemonSetType],
  [jobType],
  [leaderWorkerSetType],
  [jobSetType],
  [disruptionPolicyType],
  [podType],
];

/**
 * Reads from any API server what the rules look at: one namespace, or all of them.
 * @throws {CannotTellError} when something may not be read: rules would find faults that are none, and miss others
 */
export async function gatherClusterObjects(client: Client, namespace: string | undefined): Promise<KubeObject[]> {
  const reader = new ClusterReader(client, namespace);
  const objects: KubeObject[] = [];
  for (const types of KINDS) objects.push(...(await reader.listNamed(types)));
  reader.assertComplete();
  return objects;
}
