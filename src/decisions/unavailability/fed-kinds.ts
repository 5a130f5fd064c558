import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../api/kruise/types.ts';
import type { ResourceType } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import type { KindFeed } from '../kind-feed.ts';
import { OWNER_TYPES, type UnavailabilityFeed } from './feed.ts';

/** A kind that decisions about PodUnavailableBudgets depend on; owners stand between a pod and what a budget targets. */
export type FedUnavailabilityKind = KindFeed<UnavailabilityFeed, 'Owner' | 'Budget' | 'Pod'>;

const owner = (type: ResourceType): FedUnavailabilityKind => ({
  kind: type.kind,
  types: [type],
  builtIn: true,
  role: 'Owner',
  set: (feed, object) => void feed.setOwner(type.kind, object),
  delete: (feed, namespace, name) => feed.deleteOwner(type.kind, namespace, name),
});

const budgets: FedUnavailabilityKind = {
  kind: POD_UNAVAILABLE_BUDGETS.kind,
  types: [POD_UNAVAILABLE_BUDGETS as ResourceType],
  builtIn: false,
  role: 'Budget',
  set: (feed, object) => feed.indexes.of(object.metadata.namespace ?? '').setBudget(object as PodUnavailableBudget),
  delete: (feed, namespace, name) => feed.indexes.of(namespace).deleteBudget(name),
};

const pods: FedUnavailabilityKind = {
  kind: 'Pod',
  types: [podType as ResourceType],
  builtIn: true,
  role: 'Pod',
  set: (feed, object) => feed.setPod(object as Pod),
  delete: (feed, namespace, name) => feed.deletePod(namespace, name),
};

/** Everything that decides which PodUnavailableBudgets say what to a pod, in the order in which to read it. */
export const UNAVAILABILITY_KINDS: readonly FedUnavailabilityKind[] = [...OWNER_TYPES.map(owner), budgets, pods];
