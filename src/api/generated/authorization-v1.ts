// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from './meta-v1.ts';

export interface FieldSelectorAttributes {
  rawSelector?: string | undefined;
  requirements?: FieldSelectorRequirement[] | undefined;
}

export interface LabelSelectorAttributes {
  rawSelector?: string | undefined;
  requirements?: LabelSelectorRequirement[] | undefined;
}

export interface LocalSubjectAccessReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  spec?: SubjectAccessReviewSpec | undefined;
  status?: SubjectAccessReviewStatus | undefined;
}

export interface NonResourceAttributes {
  path?: string | undefined;
  verb?: string | undefined;
}

export interface NonResourceRule {
  verbs: string[];
  nonResourceURLs?: string[] | undefined;
}

export interface ResourceAttributes {
  namespace?: string | undefined;
  verb?: string | undefined;
  group?: string | undefined;
  version?: string | undefined;
  resource?: string | undefined;
  subresource?: string | undefined;
  name?: string | undefined;
  fieldSelector?: FieldSelectorAttributes | undefined;
  labelSelector?: LabelSelectorAttributes | undefined;
}

export interface ResourceRule {
  verbs: string[];
  apiGroups?: string[] | undefined;
  resources?: string[] | undefined;
  resourceNames?: string[] | undefined;
}

export interface SelfSubjectAccessReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  spec?: SelfSubjectAccessReviewSpec | undefined;
  status?: SubjectAccessReviewStatus | undefined;
}

export interface SelfSubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes | undefined;
  nonResourceAttributes?: NonResourceAttributes | undefined;
}

export interface SelfSubjectRulesReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  spec?: SelfSubjectRulesReviewSpec | undefined;
  status?: SubjectRulesReviewStatus | undefined;
}

export interface SelfSubjectRulesReviewSpec {
  namespace?: string | undefined;
}

export interface SubjectAccessReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: ObjectMeta | undefined;
  spec?: SubjectAccessReviewSpec | undefined;
  status?: SubjectAccessReviewStatus | undefined;
}

export interface SubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes | undefined;
  nonResourceAttributes?: NonResourceAttributes | undefined;
  user?: string | undefined;
  groups?: string[] | undefined;
  extra?: Record<string, string[]> | undefined;
  uid?: string | undefined;
}

export interface SubjectAccessReviewStatus {
  allowed: boolean;
  denied?: boolean | undefined;
  reason?: string | undefined;
  evaluationError?: string | undefined;
}

export interface SubjectRulesReviewStatus {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
  incomplete: boolean;
  evaluationError?: string | undefined;
}
