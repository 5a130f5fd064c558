// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface AggregationRule {
  clusterRoleSelectors?: LabelSelector[] | undefined;
}

export interface ClusterRole {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  rules?: PolicyRule[] | undefined;
  aggregationRule?: AggregationRule | undefined;
}

export interface ClusterRoleBinding {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  subjects?: Subject[] | undefined;
  roleRef: RoleRef;
}

export interface ClusterRoleBindingList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ClusterRoleBinding[];
}

export interface ClusterRoleList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ClusterRole[];
}

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[] | undefined;
  resources?: string[] | undefined;
  resourceNames?: string[] | undefined;
  nonResourceURLs?: string[] | undefined;
}

export interface Role {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  rules?: PolicyRule[] | undefined;
}

export interface RoleBinding {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  subjects?: Subject[] | undefined;
  roleRef: RoleRef;
}

export interface RoleBindingList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: RoleBinding[];
}

export interface RoleList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Role[];
}

export interface RoleRef {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  apiGroup?: string | undefined;
  name: string;
  namespace?: string | undefined;
}
