/** Workloads and PodGroups as they are made for an owner of pods, whoever makes them. */
import { controllerReference, type Owned } from '../../api/core/owner.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import type {
  CompositePodGroupTemplate,
  DisruptionMode,
  PodGroup,
  PodGroupTemplate,
  Workload,
} from '../../api/generated/scheduling-v1beta1.ts';
import { apiVersionOf, type ResourceType } from '../../api/resource.ts';

/** What groups are made for. */
export interface GroupOwner {
  readonly type: ResourceType;
  readonly object: Owned;
}

export interface GroupTemplateTerms {
  /** Undefined: the basic policy, whose pods are placed one by one. */
  readonly minCount: number | undefined;
  /** Of the pods; a group whose priority differs from theirs is never placed. */
  readonly priorityClassName?: string | undefined;
  readonly disruptionMode?: DisruptionMode | undefined;
  readonly schedulingConstraints?: PodGroupTemplate['schedulingConstraints'];
  readonly resourceClaims?: PodGroupTemplate['resourceClaims'];
}

export interface NamedTemplate extends GroupTemplateTerms {
  readonly name: string;
}

export type WorkloadTemplates =
  | { readonly podGroupTemplates: PodGroupTemplate[] }
  | { readonly compositePodGroupTemplates: CompositePodGroupTemplate[] };

export interface WorkloadTerms {
  readonly name: string;
  readonly templates: WorkloadTemplates;
  readonly labels?: Record<string, string> | undefined;
}

/** A Workload, owned by what its groups are made for. */
export function newWorkload(owner: GroupOwner, { labels, name, templates }: WorkloadTerms): Workload {
  return {
    metadata: ownedMetadata(owner, name, labels),
    spec: {
      controllerRef: { apiGroup: owner.type.group, kind: owner.type.kind, name: owner.object.metadata.name ?? '' },
      ...templates,
    },
  };
}

function ownedMetadata({ object, type }: GroupOwner, name: string, labels: Record<string, string> | undefined) {
  return {
    namespace: object.metadata.namespace,
    name,
    ...(labels && { labels }),
    ownerReferences: [controllerReference(type, object)],
  };
}

export interface PodGroupTerms extends GroupTemplateTerms {
  readonly name: string;
  readonly workload: string;
  readonly template: string;
  readonly parent?: string | undefined;
  readonly labels?: Record<string, string> | undefined;
}

/** A PodGroup of a Workload's template. Its controller is its owner; see `alsoOwnedBy`. */
export function newPodGroup(
  owner: GroupOwner,
  { labels, name, parent, template, workload, ...terms }: PodGroupTerms,
): PodGroup {
  return {
    metadata: ownedMetadata(owner, name, labels),
    spec: {
      ...(parent && { parentCompositePodGroupName: parent }),
      workloadRef: { workloadName: workload, templateName: template },
      ...specOf(terms),
    },
  };
}

/** The Workload is a second owner, so that a group made just as its controller goes does not outlive both. */
export function alsoOwnedBy<T extends Owned>(group: T, type: ResourceType, { metadata }: Owned): T {
  const reference: OwnerReference = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
  };
  const ownerReferences = [...(group.metadata.ownerReferences ?? []), reference];
  return { ...group, metadata: { ...group.metadata, ownerReferences } };
}

export function newTemplate({ name, ...terms }: NamedTemplate): PodGroupTemplate {
  return { name, ...specOf(terms) };
}

function specOf({
  disruptionMode,
  minCount,
  priorityClassName,
  resourceClaims,
  schedulingConstraints,
}: GroupTemplateTerms) {
  return {
    schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
    ...(disruptionMode && { disruptionMode }),
    ...(schedulingConstraints && { schedulingConstraints }),
    ...(resourceClaims && { resourceClaims }),
    ...(priorityClassName && { priorityClassName }),
  };
}
