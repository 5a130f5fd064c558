import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { type KubeObject, type ResourceType, splitApiVersion } from '../../api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';
import type { KindFeed } from '../kind-feed.ts';
import { readBudget } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { readPodGroup, readWorkload } from './group-facts.ts';
import { LABEL_SOURCES, type LabelSource } from './label-sources/index.ts';
import { readPod } from './pod-facts.ts';

/** A kind that decisions about PodDisruptionBudgets depend on; groups say which pods belong together. */
export type FedKind = KindFeed<DisruptionIndex, 'Budget' | 'Group' | 'Pod'>;

const placeOf = ({ metadata: { name = '', namespace = '' } }: KubeObject) => ({ name, namespace });

const budgets: FedKind = {
  kind: 'PodDisruptionBudget',
  types: [podDisruptionBudgetType as ResourceType],
  builtIn: true,
  role: 'Budget',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setBudget(readBudget(object as PodDisruptionBudget, index.budget(namespace, name)));
  },
  delete: (index, namespace, name) => index.deleteBudget(namespace, name),
};

const workloads: FedKind = {
  kind: 'Workload',
  types: WORKLOAD_TYPES,
  builtIn: false,
  role: 'Group',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setWorkload(namespace, name, readWorkload(object));
  },
  delete: (index, namespace, name) => index.setWorkload(namespace, name, undefined),
};

const podGroups: FedKind = {
  kind: 'PodGroup',
  types: POD_GROUP_TYPES,
  builtIn: false,
  role: 'Group',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setPodGroup(namespace, name, readPodGroup(object));
  },
  delete: (index, namespace, name) => index.setPodGroup(namespace, name, undefined),
};

const labelSource = ({ read, type }: LabelSource): FedKind => ({
  kind: type.kind,
  types: [type],
  builtIn: true,
  role: 'Group',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setSource(namespace, `${type.kind}/${name}`, read(object));
  },
  delete: (index, namespace, name) => index.setSource(namespace, `${type.kind}/${name}`, undefined),
});

const pods: FedKind = {
  kind: 'Pod',
  types: [podType as ResourceType],
  builtIn: true,
  role: 'Pod',
  set: (index, object) => index.setPod(readPod(object as Pod)),
  delete: (index, namespace, name) => index.deletePod(namespace, name),
};

/**
 * Everything the index is fed with, in the order in which to read it. Whoever keeps an index goes by this table, so
 * that all of them know the same. Budgets come before pods: a pod then finds its budgets by its labels, instead of
 * each budget looking at every pod.
 */
export const FED_KINDS: readonly FedKind[] = [budgets, workloads, podGroups, ...LABEL_SOURCES.map(labelSource), pods];

/** The kinds that say what a group is. */
export const GROUP_KINDS: readonly FedKind[] = FED_KINDS.filter(({ role }) => role === 'Group');

/** The row an object belongs to, by what it says of itself. */
export function fedKindOf({ apiVersion = '', kind }: KubeObject): FedKind | undefined {
  const { group } = splitApiVersion(apiVersion);
  return FED_KINDS.find((row) => row.kind === kind && row.types.some((type) => type.group === group));
}
