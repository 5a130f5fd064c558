import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import { apiVersionOf, type KubeObject, type ResourceType } from '../../api/resource.ts';
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
import { POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';
import { type Client, isForbidden, isNotFound, listAll } from '../../machinery/runtime/index.ts';

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
  POD_GROUP_TYPES,
  [deploymentType],
  [statefulSetType],
  [replicaSetType],
  [replicationControllerType],
  [daemonSetType],
  [jobType],
  [leaderWorkerSetType],
  [jobSetType],
  [podType],
];

export interface ClusterObjects {
  readonly objects: readonly KubeObject[];
  /** Kinds this user may not list; rules see nothing of them. */
  readonly hidden: readonly string[];
}

/** Reads from any API server what the rules look at: one namespace, or all of them. */
export async function gatherClusterObjects(client: Client, namespace: string | undefined): Promise<ClusterObjects> {
  const objects: KubeObject[] = [];
  const hidden: string[] = [];
  for (const versions of KINDS) {
    try {
      objects.push(...(await listFirst(client, versions, namespace)));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      hidden.push(versions[0]?.plural ?? '');
    }
  }
  return { objects, hidden };
}

async function listFirst(
  client: Client,
  versions: readonly ResourceType[],
  namespace: string | undefined,
): Promise<KubeObject[]> {
  for (const type of versions) {
    try {
      const items = await listAll(client, type, namespace);
      return items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}
