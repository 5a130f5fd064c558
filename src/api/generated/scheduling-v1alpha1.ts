// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { LocalObjectReference, ObjectReference } from './core-v1.ts';
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

export interface PodGroupPolicy {
  basic?: BasicSchedulingPolicy | undefined;
  gang?: GangSchedulingPolicy | undefined;
}

export interface PodGroupSpec {
  workloadRef?: ObjectReference | undefined;
  podGroupTemplateName?: string | undefined;
  podGroupTemplateRef?: LocalObjectReference | undefined;
}

export interface PodGroupStatus {
  conditions?: Condition[] | undefined;
  scheduledPods?: number | undefined;
}

export interface PriorityClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  value: number;
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

export interface WorkloadPodGroup {
  name: string;
  policy: PodGroupPolicy;
  replicas?: number | undefined;
}

export interface WorkloadSpec {
  controllerRef?: TypedLocalObjectReference | undefined;
  podGroups?: WorkloadPodGroup[] | undefined;
  podGroupTemplates?: WorkloadPodGroup[] | undefined;
}
