// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CrossVersionObjectReference {
  kind: string;
  name: string;
  apiVersion?: string | undefined;
}

export interface HorizontalPodAutoscaler {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: HorizontalPodAutoscalerSpec | undefined;
  status?: HorizontalPodAutoscalerStatus | undefined;
}

export interface HorizontalPodAutoscalerList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: HorizontalPodAutoscaler[];
}

export interface HorizontalPodAutoscalerSpec {
  scaleTargetRef: CrossVersionObjectReference;
  minReplicas?: number | undefined;
  maxReplicas: number;
  targetCPUUtilizationPercentage?: number | undefined;
}

export interface HorizontalPodAutoscalerStatus {
  observedGeneration?: number | undefined;
  lastScaleTime?: string | undefined;
  currentReplicas: number;
  desiredReplicas: number;
  currentCPUUtilizationPercentage?: number | undefined;
}

export interface Scale {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ScaleSpec | undefined;
  status?: ScaleStatus | undefined;
}

export interface ScaleSpec {
  replicas?: number | undefined;
}

export interface ScaleStatus {
  replicas: number;
  selector?: string | undefined;
}
