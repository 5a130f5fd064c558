/** A group of Kubernetes' own kinds and its twin in ours, which stands in for it while Kubernetes is upgraded. */
import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { type KubeObject, splitApiVersion } from '../../api/resource.ts';
import {
  OWN_SCHEDULING_GROUP,
  SCHEDULING_GROUP,
  type SchedulingVersion,
  servedPodGroup,
  servedWorkload,
  storedPodGroup,
  storedWorkload,
} from '../../api/scheduling/index.ts';
import { MIRROR_PREFIX, REPLICAS_ANNOTATION } from '../../decisions/disruption/index.ts';

/** On a twin: which version it was made from. Other objects of ours are nobody's twins. */
export const MIGRATED_ANNOTATION = 'groups.quorate.dev/migrated-from';

export type GroupObject = KubeObject & {
  readonly metadata: { readonly ownerReferences?: OwnerReference[] | undefined };
  readonly spec?: object | undefined;
};

/** UIDs of Workloads, by `namespace/name`, in the group of kinds that an object is to be written in. */
export type WorkloadUids = ReadonlyMap<string, string>;

const NEWEST: SchedulingVersion = 'v1beta1';

/** The object in `v1beta1` of the other group of kinds, as it is to be made there. */
export function twinOf(object: GroupObject, to: 'own' | 'native', workloads: WorkloadUids): GroupObject {
  const { version } = splitApiVersion(object.apiVersion ?? '');
  const { annotations, labels, name, namespace } = object.metadata;
  const group = to === 'own' ? OWN_SCHEDULING_GROUP : SCHEDULING_GROUP;
  const isWorkload = object.kind === 'Workload';
  const { spec } = isWorkload
    ? servedWorkload(storedWorkload(object as never, version as SchedulingVersion), NEWEST)
    : servedPodGroup(storedPodGroup(object as never, version as SchedulingVersion), NEWEST);
  const marks = to === 'own' ? { [MIGRATED_ANNOTATION]: object.apiVersion ?? '', ...replicasOf(object) } : {};
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== MIGRATED_ANNOTATION && key !== LAST_APPLIED);
  const all = { ...Object.fromEntries(kept), ...marks };
  const apiVersion = `${group}/${NEWEST}`;
  const ownerReferences = ownersOf(object, apiVersion, workloads);
  return {
    apiVersion,
    kind: object.kind,
    metadata: {
      namespace,
      name,
      ...(labels && { labels }),
      ...(Object.keys(all).length > 0 && { annotations: all }),
      ...(ownerReferences.length > 0 && { ownerReferences }),
    },
    // What a group computes is not said of its twin: the priority comes from its class.
    spec: withoutPriority(spec ?? {}),
  };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function withoutPriority(spec: object): object {
  const { priority, ...rest } = spec as { priority?: number; priorityClassName?: string };
  return rest.priorityClassName === undefined && priority !== undefined && priority !== 0 ? spec : rest;
}

/** An owner of the other group of kinds would be gone soon, and the twin with it. */
function ownersOf({ metadata }: GroupObject, apiVersion: string, workloads: WorkloadUids): OwnerReference[] {
  return (metadata.ownerReferences ?? []).map((owner) => {
    const { group } = splitApiVersion(owner.apiVersion);
    if (owner.kind !== 'Workload' || (group !== SCHEDULING_GROUP && group !== OWN_SCHEDULING_GROUP)) return owner;
    return { ...owner, apiVersion, uid: workloads.get(`${metadata.namespace}/${owner.name}`) ?? owner.uid };
  });
}

/** Only the first version counts replicas; budgets read them from here. */
function replicasOf({ spec }: GroupObject): Record<string, string> {
  const { podGroups = [] } = (spec ?? {}) as { podGroups?: { name: string; replicas?: number }[] };
  const counted = podGroups.filter(({ replicas }) => replicas !== undefined);
  if (counted.length === 0) return {};
  return { [REPLICAS_ANNOTATION]: JSON.stringify(Object.fromEntries(counted.map((one) => [one.name, one.replicas]))) };
}

const LINK_FIELDS = ['schedulingGroup', 'workloadRef', 'workloadReference', 'workload'] as const;

/** The annotations that say the same as a pod's fields, which it lacks. */
export function missingMirrors({ metadata, spec }: Pod): Record<string, string> {
  const missing = LINK_FIELDS.flatMap((field): [string, string][] => {
    const value = spec?.[field];
    const key = MIRROR_PREFIX + field;
    return value === undefined || metadata.annotations?.[key] !== undefined ? [] : [[key, JSON.stringify(value)]];
  });
  return Object.fromEntries(missing);
}

/** The annotations of a pod that its fields say as well. */
export function spareMirrors({ metadata, spec }: Pod): string[] {
  return LINK_FIELDS.filter(
    (field) => spec?.[field] !== undefined && metadata.annotations?.[MIRROR_PREFIX + field] !== undefined,
  ).map((field) => MIRROR_PREFIX + field);
}
