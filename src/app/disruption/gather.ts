import type { Pod } from '../../api/generated/core-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { jobType, nodeType, podDisruptionBudgetType, podType, statefulSetType } from '../../api/resource-types.ts';
import {
  computeAllowed,
  computeDesired,
  DisruptionIndex,
  readBudget,
  readGroupSource,
  readPod,
  readPodGroup,
  readWorkload,
} from '../../decisions/disruption/index.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { type Client, isForbidden, isNotFound } from '../../machinery/runtime/index.ts';
import { formatTime } from '../../machinery/values/index.ts';

export interface DisruptionState {
  readonly index: DisruptionIndex;
  readonly pods: readonly Pod[];
  readonly isCordoned: (node: string) => boolean;
  /** The same pods and groups under one budget for each namespace that selects everything: groups nobody guards too. */
  readonly everyGroup: () => DisruptionIndex;
}

const PAGE = 500;

/** Reads from any API server what decisions about evictions need: one namespace, or all of them. */
export async function gatherDisruption(
  client: Client,
  { namespace, now }: { namespace?: string | undefined; now: number },
): Promise<DisruptionState> {
  const [pods, budgets, workloads, podGroups, nodes] = await Promise.all([
    listAll(client, podType, namespace),
    listAll(client, podDisruptionBudgetType, namespace),
    // Only the oldest version says how many replicas a group has, only the newer PodGroups carry a policy.
    listFirst(client, 'Workload', ['v1alpha1', 'v1beta1', 'v1alpha2'], namespace),
    listFirst(client, 'PodGroup', ['v1beta1', 'v1alpha2', 'v1alpha1'], namespace),
    listAll(client, nodeType, undefined).catch((error: unknown) => {
      if (isForbidden(error)) return [];
      throw error;
    }),
  ]);
  const index = new DisruptionIndex();
  for (const budget of budgets) index.setBudget(readBudget(budget));
  addGroups(index, workloads, podGroups);
  for (const object of await listSources(client, index, namespace)) {
    const read = readGroupSource(object);
    if (read !== undefined) index.setSource(object.metadata.namespace ?? '', read.key, read.source);
  }
  for (const pod of pods) index.setPod(readPod(pod));
  countWhereTheServerDoesNot(index, now);
  const cordoned = new Set(
    nodes.filter(({ spec }) => spec?.unschedulable === true).map(({ metadata }) => metadata.name),
  );
  const everyGroup = (): DisruptionIndex => {
    const every = new DisruptionIndex();
    for (const at of new Set(pods.map(({ metadata }) => metadata.namespace ?? ''))) {
      const spec = { minAvailable: 0, selector: {} };
      every.setBudget({ ...readBudget({ metadata: { name: 'everything', namespace: at }, spec }), scope: 'PodGroup' });
    }
    addGroups(every, workloads, podGroups);
    for (const pod of pods) every.setPod(readPod(pod));
    return every;
  };
  return { index, pods, isCordoned: (node) => cordoned.has(node), everyGroup };
}

function addGroups(index: DisruptionIndex, workloads: readonly KubeObject[], podGroups: readonly KubeObject[]): void {
  for (const workload of workloads) {
    const { name = '', namespace: at = '' } = workload.metadata;
    index.setWorkload(at, name, readWorkload(workload));
  }
  for (const group of podGroups) {
    const { name = '', namespace: at = '' } = group.metadata;
    index.setPodGroup(at, name, readPodGroup(group));
  }
}

/**
 * A cluster whose own disruption controller counts pods says nothing about groups. Its budgets are then judged by the
 * groups that are there, which can only be stricter than what the cluster itself would say to a pod at a time.
 */
function countWhereTheServerDoesNot(index: DisruptionIndex, now: number): void {
  for (const budget of Array.from(index.budgets())) {
    const count = index.count(budget.namespace, budget.name, now);
    if (count?.mode.unit !== 'PodGroup' || budget.status.podGroupBudget?.status === 'True') continue;
    const desired = computeDesired(budget, count.expectedUnits);
    index.setBudget({
      ...budget,
      status: {
        ...budget.status,
        observedGeneration: budget.generation,
        disruptionsAllowed: computeAllowed(count.healthy, desired, count.expectedUnits),
        currentHealthy: count.healthy,
        desiredHealthy: desired,
        expectedPods: count.expectedUnits,
        podGroupBudget: {
          type: 'PodGroupBudget',
          status: 'True',
          reason: 'GroupUnits',
          message: '',
          lastTransitionTime: formatTime(now),
        },
      },
    });
  }
}

export async function listAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  namespace: string | undefined,
  fieldSelector?: string,
): Promise<T[]> {
  const items: T[] = [];
  let token: string | undefined;
  do {
    const page = await client.list(type, { namespace, fieldSelector, limit: PAGE, continue: token });
    items.push(...page.items);
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
  return items;
}

/** The objects of a kind in the first version that is served; none where the cluster does not have the kind. */
async function listFirst(
  client: Client,
  kind: string,
  versions: readonly string[],
  namespace: string | undefined,
): Promise<KubeObject[]> {
  const own = { ...builtinType(kind, SCHEDULING_GROUP, 'v1beta1'), group: OWN_SCHEDULING_GROUP };
  const types = [...versions.map((version) => builtinType(kind, SCHEDULING_GROUP, version)), own];
  for (const type of types) {
    try {
      return await listAll(client, type, namespace);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}

/** Only budgets that group by labels need to know what stands behind them. */
async function listSources(
  client: Client,
  index: DisruptionIndex,
  namespace: string | undefined,
): Promise<KubeObject[]> {
  if (!Array.from(index.budgets()).some(({ groupBy }) => groupBy !== undefined)) return [];
  const named = (kind: string) => (object: KubeObject) => ({ ...object, kind });
  const sets = await listAll<KubeObject>(client, statefulSetType, namespace);
  const jobs = await listAll<KubeObject>(client, jobType, namespace);
  return [...sets.map(named('StatefulSet')), ...jobs.map(named('Job'))];
}
