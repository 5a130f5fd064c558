// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Toleration } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Overhead {
  podFixed?: Record<string, string> | undefined;
}

export interface RuntimeClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  handler: string;
  overhead?: Overhead | undefined;
  scheduling?: Scheduling | undefined;
}

export interface RuntimeClassList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: RuntimeClass[];
}

export interface Scheduling {
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: Toleration[] | undefined;
}
