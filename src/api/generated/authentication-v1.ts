// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ObjectMeta } from './meta-v1.ts';

export interface BoundObjectReference {
  kind?: string | undefined;
  apiVersion?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
}

export interface SelfSubjectReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  status?: SelfSubjectReviewStatus | undefined;
}

export interface SelfSubjectReviewStatus {
  userInfo?: UserInfo | undefined;
}

export interface TokenRequest {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: TokenRequestSpec | undefined;
  status?: TokenRequestStatus | undefined;
}

export interface TokenRequestSpec {
  audiences?: string[] | undefined;
  expirationSeconds?: number | undefined;
  boundObjectRef?: BoundObjectReference | undefined;
}

export interface TokenRequestStatus {
  token?: string | undefined;
  expirationTimestamp?: string | undefined;
}

export interface TokenReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  spec?: TokenReviewSpec | undefined;
  status?: TokenReviewStatus | undefined;
}

export interface TokenReviewSpec {
  token?: string | undefined;
  audiences?: string[] | undefined;
}

export interface TokenReviewStatus {
  authenticated?: boolean | undefined;
  user?: UserInfo | undefined;
  audiences?: string[] | undefined;
  error?: string | undefined;
}

export interface UserInfo {
  username?: string | undefined;
  uid?: string | undefined;
  groups?: string[] | undefined;
  extra?: Record<string, string[]> | undefined;
}
