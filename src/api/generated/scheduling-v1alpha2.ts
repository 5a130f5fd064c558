// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, ListMeta, ObjectMeta } from './meta-v1.ts';

export type BasicSchedulingPolicy = Record<string, never>;

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
  podGroupTemplateRef?: PodGroupTemplateReference | undefined;
  schedulingPolicy: PodGroupSchedulingPolicy;
  schedulingConstraints?: PodGroupSchedulingConstraints | undefined;
  resourceClaims?: PodGroupResourceClaim[] | undefined;
  disruptionMode?: string | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
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
  disruptionMode?: string | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
}

export interface PodGroupTemplateReference {
  workload?: WorkloadPodGroupTemplateReference | undefined;
}

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

export interface WorkloadPodGroupTemplateReference {
  workloadName: string;
  podGroupTemplateName: string;
}

export interface WorkloadSpec {
  controllerRef?: TypedLocalObjectReference | undefined;
  podGroupTemplates: PodGroupTemplate[];
}
