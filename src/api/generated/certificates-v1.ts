// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CertificateSigningRequest {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: CertificateSigningRequestSpec | undefined;
  status?: CertificateSigningRequestStatus | undefined;
}

export interface CertificateSigningRequestCondition {
  type: string;
  status: string;
  reason?: string | undefined;
  message?: string | undefined;
  lastUpdateTime?: string | undefined;
  lastTransitionTime?: string | undefined;
}

export interface CertificateSigningRequestList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CertificateSigningRequest[];
}

export interface CertificateSigningRequestSpec {
  request: string;
  signerName: string;
  expirationSeconds?: number | undefined;
  usages?: string[] | undefined;
  username?: string | undefined;
  uid?: string | undefined;
  groups?: string[] | undefined;
  extra?: Record<string, string[]> | undefined;
}

export interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[] | undefined;
  certificate?: string | undefined;
}
