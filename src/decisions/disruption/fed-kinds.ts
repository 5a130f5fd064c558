import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { type KubeObject, type ResourceType, splitApiVersion } from '../../api/resource.ts';
import { type DisruptionPolicy, disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import { type GroupEviction, groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { COMPOSITE_TYPES, OWN_SCHEDULING_GROUP, POD_GROUP_TYPES, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';
import type { KindFeed } from '../kind-feed.ts';
import { readPolicy } from '../policies/index.ts';
import { readBudget } from './budget-facts.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { readComposite, readPodGroup, readWorkload } from './group-facts.ts';
import type { GroupServer } from './group-objects.ts';
import { readKnownNotice } from './known-notices.ts';
import { LABEL_SOURCES, type LabelSource } from './label-sources/index.ts';
import { readPod } from './pod-facts.ts';

/** A kind that decisions about PodDisruptionBudgets depend on; groups say which pods belong together. */
export type FedKind = KindFeed<DisruptionIndex, 'Budget' | 'Group' | 'Pod' | 'Policy'>;

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

type Put<T> = (
  index: DisruptionIndex,
  place: { readonly namespace: string; readonly name: string },
  facts: T | undefined,
  server: GroupServer,
) => void;

/**
 * A kind of group, once as Kubernetes serves it and once as definitions of ours do: a cluster may have both, while its
 * groups are moved from one version of Kubernetes to the next.
 */
function groupRows<T>(types: readonly ResourceType[], read: (object: KubeObject) => T, put: Put<T>): FedKind[] {
  const servers = [
    { server: 'native', served: types.filter(({ group }) => group !== OWN_SCHEDULING_GROUP) },
    { server: 'own', served: types.filter(({ group }) => group === OWN_SCHEDULING_GROUP) },
  ] as const;
  return servers.map(({ served, server }) => ({
    kind: types[0]?.kind ?? '',
    types: served,
    builtIn: false,
    role: 'Group',
    set: (index, object) => put(index, placeOf(object), read(object), server),
    delete: (index, namespace, name) => put(index, { namespace, name }, undefined, server),
  }));
}

const groups: readonly FedKind[] = [
  ...groupRows(WORKLOAD_TYPES, readWorkload, (index, { name, namespace }, facts, server) =>
    index.setWorkload(namespace, name, facts, server),
  ),
  ...groupRows(COMPOSITE_TYPES, readComposite, (index, { name, namespace }, facts, server) =>
    index.setComposite(namespace, name, facts, server),
  ),
  ...groupRows(POD_GROUP_TYPES, readPodGroup, (index, { name, namespace }, facts, server) =>
    index.setPodGroup(namespace, name, facts, server),
  ),
];

const labelSource = ({ builtIn = true, read, type }: LabelSource): FedKind => ({
  kind: type.kind,
  types: [type],
  builtIn,
  role: 'Group',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setSource(namespace, `${type.kind}.${type.group}/${name}`, read(object));
  },
  delete: (index, namespace, name) => index.setSource(namespace, `${type.kind}.${type.group}/${name}`, undefined),
});

const policies: FedKind = {
  kind: 'DisruptionPolicy',
  types: [disruptionPolicyType as ResourceType],
  builtIn: false,
  role: 'Policy',
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setPolicy(readPolicy(object as DisruptionPolicy, index.policy(namespace, name)));
  },
  delete: (index, namespace, name) => index.deletePolicy(namespace, name),
};

const pods: FedKind = {
  kind: 'Pod',
  types: [podType as ResourceType],
  builtIn: true,
  role: 'Pod',
  set: (index, object) => index.setPod(readPod(object as Pod)),
  delete: (index, namespace, name) => index.deletePod(namespace, name),
};

/** Notices under way: hosts that answer evictions feed them too. */
export const NOTICE_FEED: Pick<FedKind, 'types' | 'set' | 'delete'> = {
  types: [groupEvictionType as ResourceType],
  set(index, object) {
    const { name, namespace } = placeOf(object);
    index.setNotice(namespace, name, readKnownNotice(object as GroupEviction));
  },
  delete: (index, namespace, name) => index.setNotice(namespace, name, undefined),
};

/**
 * Everything the index is fed with, in the order in which to read it. Whoever keeps an index goes by this table, so
 * that all of them know the same. Budgets come before pods: a pod then finds its budgets by its labels, instead of
 * each budget looking at every pod.
 */
export const FED_KINDS: readonly FedKind[] = [budgets, ...groups, ...LABEL_SOURCES.map(labelSource), policies, pods];

/** The kinds that say what a group is. */
export const GROUP_KINDS: readonly FedKind[] = FED_KINDS.filter(({ role }) => role === 'Group');

/** The kinds that hosts with budgets and pods of their own follow beside them. */
export const FOLLOWED_KINDS: readonly FedKind[] = FED_KINDS.filter(({ role }) => role === 'Group' || role === 'Policy');

/** The row an object belongs to, by what it says of itself. */
export function fedKindOf({ apiVersion = '', kind }: KubeObject): FedKind | undefined {
  const { group } = splitApiVersion(apiVersion);
  return FED_KINDS.find((row) => row.kind === kind && row.types.some((type) => type.group === group));
}
