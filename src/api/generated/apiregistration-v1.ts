// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface APIService {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: APIServiceSpec | undefined;
  status?: APIServiceStatus | undefined;
}

export interface APIServiceCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface APIServiceList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: APIService[];
}

export interface APIServiceSpec {
  service?: ServiceReference | undefined;
  group?: string | undefined;
  version?: string | undefined;
  insecureSkipTLSVerify?: boolean | undefined;
  caBundle?: string | undefined;
  groupPriorityMinimum: number;
  versionPriority: number;
}

export interface APIServiceStatus {
  conditions?: APIServiceCondition[] | undefined;
}

export interface ServiceReference {
  namespace?: string | undefined;
  name?: string | undefined;
  port?: number | undefined;
}
