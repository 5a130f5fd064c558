// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface ExemptPriorityLevelConfiguration {
  nominalConcurrencyShares?: number | undefined;
  lendablePercent?: number | undefined;
}

export interface FlowDistinguisherMethod {
  type: string;
}

export interface FlowSchema {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: FlowSchemaSpec | undefined;
  status?: FlowSchemaStatus | undefined;
}

export interface FlowSchemaCondition {
  type?: string | undefined;
  status?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface FlowSchemaList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: FlowSchema[];
}

export interface FlowSchemaSpec {
  priorityLevelConfiguration: PriorityLevelConfigurationReference;
  matchingPrecedence?: number | undefined;
  distinguisherMethod?: FlowDistinguisherMethod | undefined;
  rules?: PolicyRulesWithSubjects[] | undefined;
}

export interface FlowSchemaStatus {
  conditions?: FlowSchemaCondition[] | undefined;
}

export interface GroupSubject {
  name: string;
}

export interface LimitResponse {
  type: string;
  queuing?: QueuingConfiguration | undefined;
}

export interface LimitedPriorityLevelConfiguration {
  nominalConcurrencyShares?: number | undefined;
  limitResponse?: LimitResponse | undefined;
  lendablePercent?: number | undefined;
  borrowingLimitPercent?: number | undefined;
}

export interface NonResourcePolicyRule {
  verbs: string[];
  nonResourceURLs: string[];
}

export interface PolicyRulesWithSubjects {
  subjects: Subject[];
  resourceRules?: ResourcePolicyRule[] | undefined;
  nonResourceRules?: NonResourcePolicyRule[] | undefined;
}

export interface PriorityLevelConfiguration {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PriorityLevelConfigurationSpec | undefined;
  status?: PriorityLevelConfigurationStatus | undefined;
}

export interface PriorityLevelConfigurationCondition {
  type?: string | undefined;
  status?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface PriorityLevelConfigurationList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PriorityLevelConfiguration[];
}

export interface PriorityLevelConfigurationReference {
  name: string;
}

export interface PriorityLevelConfigurationSpec {
  type: string;
  limited?: LimitedPriorityLevelConfiguration | undefined;
  exempt?: ExemptPriorityLevelConfiguration | undefined;
}

export interface PriorityLevelConfigurationStatus {
  conditions?: PriorityLevelConfigurationCondition[] | undefined;
}

export interface QueuingConfiguration {
  queues?: number | undefined;
  handSize?: number | undefined;
  queueLengthLimit?: number | undefined;
}

export interface ResourcePolicyRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  clusterScope?: boolean | undefined;
  namespaces?: string[] | undefined;
}

export interface ServiceAccountSubject {
  namespace: string;
  name: string;
}

export interface Subject {
  kind: string;
  user?: UserSubject | undefined;
  group?: GroupSubject | undefined;
  serviceAccount?: ServiceAccountSubject | undefined;
}

export interface UserSubject {
  name: string;
}
