// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { UserInfo } from './authentication-v1.ts';
import type { GroupVersionKind, GroupVersionResource, Status } from './meta-v1.ts';

export interface AdmissionRequest {
  uid?: string | undefined;
  kind?: GroupVersionKind | undefined;
  resource?: GroupVersionResource | undefined;
  subResource?: string | undefined;
  requestKind?: GroupVersionKind | undefined;
  requestResource?: GroupVersionResource | undefined;
  requestSubResource?: string | undefined;
  name?: string | undefined;
  namespace?: string | undefined;
  operation?: string | undefined;
  userInfo?: UserInfo | undefined;
  object?: unknown;
  oldObject?: unknown;
  dryRun?: boolean | undefined;
  options?: unknown;
}

export interface AdmissionResponse {
  uid?: string | undefined;
  allowed?: boolean | undefined;
  status?: Status | undefined;
  patch?: string | undefined;
  patchType?: string | undefined;
  auditAnnotations?: Record<string, string> | undefined;
  warnings?: string[] | undefined;
}

export interface AdmissionReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  request?: AdmissionRequest | undefined;
  response?: AdmissionResponse | undefined;
}
