// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Eviction {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: EvictionSpec | undefined;
  status?: EvictionStatus | undefined;
}

export interface EvictionList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Eviction[];
}

export interface EvictionPodReference {
  name: string;
  uid: string;
}

export interface EvictionRequest {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: EvictionRequestSpec | undefined;
  status?: EvictionRequestStatus | undefined;
}

export interface EvictionRequestList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: EvictionRequest[];
}

export interface EvictionRequestPodReference {
  name: string;
  uid: string;
}

export interface EvictionRequestSpec {
  target: EvictionRequestTarget;
  requester: string;
  intent: string;
}

export interface EvictionRequestStatus {
  conditions?: Condition[] | undefined;
  observedGeneration?: number | undefined;
}

export interface EvictionRequestTarget {
  pod?: EvictionRequestPodReference | undefined;
}

export interface EvictionSpec {
  target: EvictionTarget;
}

export interface EvictionStatus {
  conditions?: Condition[] | undefined;
  observedGeneration?: number | undefined;
  requesters?: Requester[] | undefined;
  targetResponders?: TargetResponder[] | undefined;
  responders?: ResponderStatus[] | undefined;
}

export interface EvictionTarget {
  pod?: EvictionPodReference | undefined;
}

export interface Requester {
  name: string;
  intent: string;
}

export interface ResponderStatus {
  name: string;
  startTime?: string | undefined;
  heartbeatTime?: string | undefined;
  expectedCompletionTime?: string | undefined;
  completionTime?: string | undefined;
  message?: string | undefined;
}

export interface TargetResponder {
  name: string;
  priority?: number | undefined;
  state: string;
}
