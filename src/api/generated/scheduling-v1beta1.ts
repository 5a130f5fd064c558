// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, ListMeta, ObjectMeta } from './meta-v1.ts';

export type AllCompositeDisruptionMode = Record<string, never>;

export type AllDisruptionMode = Record<string, never>;

export type BasicSchedulingPolicy = Record<string, never>;

export type CompositeBasicSchedulingPolicy = Record<string, never>;

export interface CompositeDisruptionMode {
  single?: SingleCompositeDisruptionMode | undefined;
  all?: AllCompositeDisruptionMode | undefined;
}

export interface CompositeGangSchedulingPolicy {
  minGroupCount: number;
}

export interface CompositePodGroupSchedulingConstraints {
  topology?: TopologyConstraint[] | undefined;
}

export interface CompositePodGroupSchedulingPolicy {
  basic?: CompositeBasicSchedulingPolicy | undefined;
  gang?: CompositeGangSchedulingPolicy | undefined;
}

export interface CompositePodGroupTemplate {
  name: string;
  schedulingPolicy: CompositePodGroupSchedulingPolicy;
  schedulingConstraints?: CompositePodGroupSchedulingConstraints | undefined;
  disruptionMode?: CompositeDisruptionMode | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
  preemptionPolicy?: string | undefined;
  podGroupTemplates?: PodGroupTemplate[] | undefined;
  compositePodGroupTemplates?: CompositePodGroupTemplate[] | undefined;
}

export interface DisruptionMode {
  single?: SingleDisruptionMode | undefined;
  all?: AllDisruptionMode | undefined;
}

export interface GangSchedulingPolicy {
  minCount: number;
}

export interface PodGroup {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PodGroupSpec | undefined;
  status?: PodGroupStatus | undefined;
}

export interface PodGroupList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PodGroup[];
}

export interface PodGroupResourceClaim {
  name: string;
  resourceClaimName?: string | undefined;
  resourceClaimTemplateName?: string | undefined;
}

export interface PodGroupResourceClaimStatus {
  name: string;
  resourceClaimName?: string | undefined;
}

export interface PodGroupSchedulingConstraints {
  topology?: TopologyConstraint[] | undefined;
}

export interface PodGroupSchedulingPolicy {
  basic?: BasicSchedulingPolicy | undefined;
  gang?: GangSchedulingPolicy | undefined;
}

export interface PodGroupSpec {
  parentCompositePodGroupName?: string | undefined;
  workloadRef?: WorkloadReference | undefined;
  schedulingPolicy: PodGroupSchedulingPolicy;
  schedulingConstraints?: PodGroupSchedulingConstraints | undefined;
  resourceClaims?: PodGroupResourceClaim[] | undefined;
  disruptionMode?: DisruptionMode | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
  preemptionPolicy?: string | undefined;
}

export interface PodGroupStatus {
  conditions?: Condition[] | undefined;
  resourceClaimStatuses?: PodGroupResourceClaimStatus[] | undefined;
}

export interface PodGroupTemplate {
  name: string;
  schedulingPolicy: PodGroupSchedulingPolicy;
  schedulingConstraints?: PodGroupSchedulingConstraints | undefined;
  resourceClaims?: PodGroupResourceClaim[] | undefined;
  disruptionMode?: DisruptionMode | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
  preemptionPolicy?: string | undefined;
}

export interface PriorityClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  value?: number | undefined;
  globalDefault?: boolean | undefined;
  description?: string | undefined;
  preemptionPolicy?: string | undefined;
}

export interface PriorityClassList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PriorityClass[];
}

export type SingleCompositeDisruptionMode = Record<string, never>;

export type SingleDisruptionMode = Record<string, never>;

export interface TopologyConstraint {
  key: string;
}

export interface TypedLocalObjectReference {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
}

export interface Workload {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: WorkloadSpec | undefined;
}

export interface WorkloadList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Workload[];
}

export interface WorkloadReference {
  workloadName: string;
  templateName: string;
}

export interface WorkloadSpec {
  controllerRef?: TypedLocalObjectReference | undefined;
  podGroupTemplates?: PodGroupTemplate[] | undefined;
  compositePodGroupTemplates?: CompositePodGroupTemplate[] | undefined;
}
