import type { Condition, LabelSelector, ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';

export const PROTECTED_OPERATIONS = ['DELETE', 'UPDATE', 'EVICT', 'RESIZE'] as const;
export type ProtectedOperation = (typeof PROTECTED_OPERATIONS)[number];

/** `policy.kruise.io/v1beta1`, which is also the stored form. */
export interface PodUnavailableBudget {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PodUnavailableBudgetSpec | undefined;
  status?: PodUnavailableBudgetStatus | undefined;
}

export interface TargetReference {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
}

export interface PodGroupPolicy {
  /** Label whose value names the group a pod belongs to. */
  groupLabelKey?: string | undefined;
  /** Ready pods a group needs to be available; 1 when unset. */
  minReadyReplicas?: number | undefined;
}

export const CAPACITY_MODES = ['Require', 'Ignore'] as const;

export interface CapacityPolicy {
  /** `Require`: an eviction takes a unit down only while all of its replacement finds places. */
  mode?: string | undefined;
  /** For how long placeholder pods hold the room once an eviction is granted, such as `10m`; unset or `0`: not at all. */
  reserveFor?: string | undefined;
  /** `Proceed`: what cannot be held is granted all the same; `Refuse`, or nothing: refused. */
  onReserveFailure?: string | undefined;
}

export const RESERVE_FAILURES = ['Refuse', 'Proceed'] as const;

export interface PodUnavailableBudgetSpec {
  selector?: LabelSelector | undefined;
  targetRef?: TargetReference | undefined;
  maxUnavailable?: number | string | undefined;
  minAvailable?: number | string | undefined;
  protectOperations?: string[] | undefined;
  protectTotalReplicas?: number | undefined;
  ignoredPodSelector?: LabelSelector | undefined;
  podGroupPolicy?: PodGroupPolicy | undefined;
  capacityPolicy?: CapacityPolicy | undefined;
}

export interface PodUnavailableBudgetStatus {
  observedGeneration?: number | undefined;
  /** Pod name to the time an allowed delete or eviction was recorded. */
  disruptedPods?: Record<string, string> | undefined;
  /** Pod name to the time an allowed update was recorded. */
  unavailablePods?: Record<string, string> | undefined;
  unavailableAllowed?: number | undefined;
  currentAvailable?: number | undefined;
  desiredAvailable?: number | undefined;
  totalReplicas?: number | undefined;
  /** Of those expected; groups where groups are counted. */
  unavailableReplicas?: number | undefined;
  conditions?: Condition[] | undefined;
  groupStatus?: PodGroupBudgetStatus | undefined;
}

export interface PodGroupBudgetStatus {
  unavailableGroups?: number | undefined;
  ungroupedPods?: number | undefined;
  ungroupedAvailable?: number | undefined;
  /** At most ten. */
  unavailableGroupNames?: string[] | undefined;
  /** Where several replicas decide: how new the pods were that this was computed from. */
  podsResourceVersion?: string | undefined;
}

export const POD_UNAVAILABLE_BUDGETS: ResourceType<PodUnavailableBudget> = {
  group: 'policy.kruise.io',
  version: 'v1beta1',
  kind: 'PodUnavailableBudget',
  plural: 'podunavailablebudgets',
  namespaced: true,
};

export const OPERATIONS_ANNOTATION = 'kruise.io/pub-protect-operations';
export const TOTAL_REPLICAS_ANNOTATION = 'pub.kruise.io/protect-total-replicas';
export const NO_PROTECT_ANNOTATION = 'pub.kruise.io/no-protect';
export const RELATED_PUB_ANNOTATION = 'pub.kruise.io/related-pub';
export const DEPRECATED_RELATED_PUB_ANNOTATION = 'kruise.io/related-pub';
/** Keeps what v1alpha1 cannot spell through a read-modify-write in it. */
export const HUB_SPEC_ANNOTATION = 'policy.kruise.io/v1beta1-spec';
export const UNAVAILABLE_LABEL_PREFIX = 'unavailable-pod.kruise.io/';
