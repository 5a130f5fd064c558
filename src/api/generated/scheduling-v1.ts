// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

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
