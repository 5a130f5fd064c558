/** Reads what the checks of budgets look at. */
import type { Namespace, Pod } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import type { ResourceType } from '../../api/resource.ts';
import { namespaceType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { readPod } from '../../decisions/disruption/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { fromLabelSelector, matches } from '../../machinery/values/index.ts';
import { IGNORE_LABEL } from '../../webhook/index.ts';
import type { ClusterFacts, Looked } from './facts.ts';
import { look } from './look.ts';

type BudgetFacts = Pick<ClusterFacts, 'budgets' | 'ledgers' | 'ignored' | 'shared' | 'oldGroups'>;

const OLD = ['v1alpha1', 'v1alpha2'];
/** Enough to tell; more would cost a large cluster seconds. */
const MOST_NAMESPACES = 20;
const MOST_PODS = 500;

export async function gatherBudgets(
  client: Client,
  schedulingKinds: ReadonlyMap<string, readonly string[]>,
): Promise<BudgetFacts> {
  const budgets = await look(async () => (await client.list(podDisruptionBudgetType)).items);
  return {
    budgets,
    ledgers: await look(async () => (await client.list(disruptionLedgerType)).items),
    ignored: await look(() => ignoredNamespaces(client)),
    shared: await look(() => sharedPods(client, budgets)),
    oldGroups: await look(() => countOldGroups(client, schedulingKinds)),
  };
}

async function ignoredNamespaces(client: Client): Promise<string[]> {
  const { items } = await client.list<Namespace>(namespaceType, { labelSelector: IGNORE_LABEL });
  return items.map(({ metadata }) => metadata.name ?? '');
}

/** Grouped pods that more than one budget selects; only where a namespace has several budgets. */
async function sharedPods(client: Client, { value = [] }: Looked<readonly PodDisruptionBudget[]>): Promise<string[]> {
  const byNamespace = new Map<string, PodDisruptionBudget[]>();
  for (const budget of value) {
    const { namespace = '' } = budget.metadata;
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), budget]);
  }
  const several = [...byNamespace].filter(([, budgets]) => budgets.length > 1).slice(0, MOST_NAMESPACES);
  const found: string[] = [];
  for (const [namespace, budgets] of several) {
    const selectors = budgets.map(({ spec }) => fromLabelSelector(spec?.selector));
    const { items } = await client.list(podType, { namespace, limit: MOST_PODS });
    for (const pod of items) {
      const isGrouped = readPod(pod).link !== undefined;
      const { labels } = pod.metadata;
      if (isGrouped && selectors.filter((one) => matches(one, labels)).length > 1) found.push(nameOf(pod));
    }
  }
  return found;
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

async function countOldGroups(
  client: Client,
  schedulingKinds: ReadonlyMap<string, readonly string[]>,
): Promise<number> {
  let count = 0;
  for (const [kind, plural] of [
    ['Workload', 'workloads'],
    ['PodGroup', 'podgroups'],
  ] as const) {
    const versions = schedulingKinds.get(kind) ?? [];
    const [version] = versions;
    // Where a newer one is served too, the API server stores that.
    if (version === undefined || versions.some((one) => !OLD.includes(one))) continue;
    const type: ResourceType = { group: SCHEDULING_GROUP, version, kind, plural, namespaced: true };
    count += (await client.list(type)).items.length;
  }
  return count;
}
