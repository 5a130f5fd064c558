/**
 * The one form in which groups are stored and worked with. It is the newest API version (v1beta1) plus what only older
 * versions and drafts can say; conversions at the edge turn it into each served version.
 */
import type { ObjectReference } from '../generated/core-v1.ts';
import type { Condition, ObjectMeta } from '../generated/meta-v1.ts';
import type {
  CompositePodGroupTemplate,
  DisruptionMode,
  PodGroupResourceClaim,
  PodGroupResourceClaimStatus,
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
  PodGroupTemplate,
  TypedLocalObjectReference,
  WorkloadReference,
} from '../generated/scheduling-v1beta1.ts';

export interface StoredPodGroup {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec: StoredPodGroupSpec;
  status?: StoredPodGroupStatus | undefined;
}

export interface StoredPodGroupSpec {
  parentCompositePodGroupName?: string | undefined;
  workloadRef?: WorkloadReference | undefined;
  /** Absent on groups of the draft, which follow the template of their Workload. */
  schedulingPolicy?: PodGroupSchedulingPolicy | undefined;
  schedulingConstraints?: PodGroupSchedulingConstraints | undefined;
  resourceClaims?: PodGroupResourceClaim[] | undefined;
  disruptionMode?: DisruptionMode | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
  preemptionPolicy?: string | undefined;
  /** How v1alpha1 spelled the link to the template. */
  draft?: PodGroupDraft | undefined;
}

export interface PodGroupDraft {
  /** What the reference says beyond the name. */
  workloadRef?: Omit<ObjectReference, 'name'> | undefined;
  /** `podGroupTemplateRef.name` was used in place of `podGroupTemplateName`. */
  templateByRef?: boolean | undefined;
}

export interface StoredPodGroupStatus {
  conditions?: Condition[] | undefined;
  resourceClaimStatuses?: PodGroupResourceClaimStatus[] | undefined;
  scheduledPods?: number | undefined;
}

export interface StoredWorkload {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec: StoredWorkloadSpec;
}

export interface StoredWorkloadSpec {
  controllerRef?: TypedLocalObjectReference | undefined;
  podGroupTemplates?: StoredTemplate[] | undefined;
  compositePodGroupTemplates?: CompositePodGroupTemplate[] | undefined;
  /** v1alpha1 has two names for the list; this is the draft's. Otherwise it is `podGroups`. */
  draftList?: boolean | undefined;
}

export interface StoredTemplate extends PodGroupTemplate {
  /** Only v1alpha1 counts the replicas of a group. */
  replicas?: number | undefined;
}

export type SchedulingVersion = 'v1alpha1' | 'v1alpha2' | 'v1beta1';

/** Preferred first. */
export const SCHEDULING_VERSIONS: readonly SchedulingVersion[] = ['v1beta1', 'v1alpha2', 'v1alpha1'];

export const SCHEDULING_GROUP = 'scheduling.k8s.io';
/**
 * Where definitions of ours serve the same kinds on clusters that do not. They cannot be in the group itself: an API
 * server that has a group built in answers for all of its versions, and never asks the definitions.
 */
export const OWN_SCHEDULING_GROUP = 'scheduling.quorate.dev';
export const PROTECTION_FINALIZER = 'scheduling.k8s.io/podgroup-protection';

/** The condition that says a group has been placed, as it is stored; older versions call it otherwise. */
export const INITIALLY_SCHEDULED = 'PodGroupInitiallyScheduled';
/** The same condition before v1beta1; beside it, as the first proposal has it, whether the group is placed now. */
export const SCHEDULED = 'PodGroupScheduled';
/** Of a CompositePodGroup: that enough of its groups had their place for the first time. */
export const COMPOSITE_INITIALLY_SCHEDULED = 'CompositePodGroupInitiallyScheduled';
