// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, DeleteOptions, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Eviction {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  deleteOptions?: DeleteOptions | undefined;
}

export interface PodDisruptionBudget {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PodDisruptionBudgetSpec | undefined;
  status?: PodDisruptionBudgetStatus | undefined;
}

export interface PodDisruptionBudgetList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PodDisruptionBudget[];
}

export interface PodDisruptionBudgetSpec {
  minAvailable?: number | string | undefined;
  selector?: LabelSelector | undefined;
  maxUnavailable?: number | string | undefined;
  unhealthyPodEvictionPolicy?: string | undefined;
}

export interface PodDisruptionBudgetStatus {
  observedGeneration?: number | undefined;
  disruptedPods?: Record<string, string> | undefined;
  disruptionsAllowed?: number | undefined;
  currentHealthy?: number | undefined;
  desiredHealthy?: number | undefined;
  expectedPods?: number | undefined;
  conditions?: Condition[] | undefined;
}
