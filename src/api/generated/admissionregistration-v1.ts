// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface ApplyConfiguration {
  expression?: string | undefined;
}

export interface AuditAnnotation {
  key: string;
  valueExpression: string;
}

export interface ExpressionWarning {
  fieldRef: string;
  warning: string;
}

export interface JSONPatch {
  expression?: string | undefined;
}

export interface MatchCondition {
  name: string;
  expression: string;
}

export interface MatchResources {
  namespaceSelector?: LabelSelector | undefined;
  objectSelector?: LabelSelector | undefined;
  resourceRules?: NamedRuleWithOperations[] | undefined;
  excludeResourceRules?: NamedRuleWithOperations[] | undefined;
  matchPolicy?: string | undefined;
}

export interface MutatingAdmissionPolicy {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: MutatingAdmissionPolicySpec | undefined;
}

export interface MutatingAdmissionPolicyBinding {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: MutatingAdmissionPolicyBindingSpec | undefined;
}

export interface MutatingAdmissionPolicyBindingList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: MutatingAdmissionPolicyBinding[];
}

export interface MutatingAdmissionPolicyBindingSpec {
  policyName?: string | undefined;
  paramRef?: ParamRef | undefined;
  matchResources?: MatchResources | undefined;
}

export interface MutatingAdmissionPolicyList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: MutatingAdmissionPolicy[];
}

export interface MutatingAdmissionPolicySpec {
  paramKind?: ParamKind | undefined;
  matchConstraints?: MatchResources | undefined;
  variables?: Variable[] | undefined;
  mutations?: Mutation[] | undefined;
  failurePolicy?: string | undefined;
  matchConditions?: MatchCondition[] | undefined;
  reinvocationPolicy?: string | undefined;
}

export interface MutatingWebhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: RuleWithOperations[] | undefined;
  failurePolicy?: string | undefined;
  matchPolicy?: string | undefined;
  namespaceSelector?: LabelSelector | undefined;
  objectSelector?: LabelSelector | undefined;
  sideEffects?: string | undefined;
  timeoutSeconds?: number | undefined;
  admissionReviewVersions: string[];
  reinvocationPolicy?: string | undefined;
  matchConditions?: MatchCondition[] | undefined;
}

export interface MutatingWebhookConfiguration {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  webhooks?: MutatingWebhook[] | undefined;
}

export interface MutatingWebhookConfigurationList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: MutatingWebhookConfiguration[];
}

export interface Mutation {
  patchType: string;
  applyConfiguration?: ApplyConfiguration | undefined;
  jsonPatch?: JSONPatch | undefined;
}

export interface NamedRuleWithOperations extends RuleWithOperations {
  resourceNames?: string[] | undefined;
}

export interface ParamKind {
  apiVersion?: string | undefined;
  kind?: string | undefined;
}

export interface ParamRef {
  name?: string | undefined;
  namespace?: string | undefined;
  selector?: LabelSelector | undefined;
  parameterNotFoundAction?: string | undefined;
}

export interface Rule {
  apiGroups?: string[] | undefined;
  apiVersions?: string[] | undefined;
  resources?: string[] | undefined;
  scope?: string | undefined;
}

export interface RuleWithOperations extends Rule {
  operations?: string[] | undefined;
}

export interface ServiceReference {
  namespace: string;
  name: string;
  path?: string | undefined;
  port?: number | undefined;
}

export interface TypeChecking {
  expressionWarnings?: ExpressionWarning[] | undefined;
}

export interface ValidatingAdmissionPolicy {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ValidatingAdmissionPolicySpec | undefined;
  status?: ValidatingAdmissionPolicyStatus | undefined;
}

export interface ValidatingAdmissionPolicyBinding {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ValidatingAdmissionPolicyBindingSpec | undefined;
}

export interface ValidatingAdmissionPolicyBindingList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ValidatingAdmissionPolicyBinding[];
}

export interface ValidatingAdmissionPolicyBindingSpec {
  policyName?: string | undefined;
  paramRef?: ParamRef | undefined;
  matchResources?: MatchResources | undefined;
  validationActions?: string[] | undefined;
}

export interface ValidatingAdmissionPolicyList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ValidatingAdmissionPolicy[];
}

export interface ValidatingAdmissionPolicySpec {
  paramKind?: ParamKind | undefined;
  matchConstraints?: MatchResources | undefined;
  validations?: Validation[] | undefined;
  failurePolicy?: string | undefined;
  auditAnnotations?: AuditAnnotation[] | undefined;
  matchConditions?: MatchCondition[] | undefined;
  variables?: Variable[] | undefined;
}

export interface ValidatingAdmissionPolicyStatus {
  observedGeneration?: number | undefined;
  typeChecking?: TypeChecking | undefined;
  conditions?: Condition[] | undefined;
}

export interface ValidatingWebhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: RuleWithOperations[] | undefined;
  failurePolicy?: string | undefined;
  matchPolicy?: string | undefined;
  namespaceSelector?: LabelSelector | undefined;
  objectSelector?: LabelSelector | undefined;
  sideEffects?: string | undefined;
  timeoutSeconds?: number | undefined;
  admissionReviewVersions: string[];
  matchConditions?: MatchCondition[] | undefined;
}

export interface ValidatingWebhookConfiguration {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  webhooks?: ValidatingWebhook[] | undefined;
}

export interface ValidatingWebhookConfigurationList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ValidatingWebhookConfiguration[];
}

export interface Validation {
  expression: string;
  message?: string | undefined;
  reason?: string | undefined;
  messageExpression?: string | undefined;
}

export interface Variable {
  name: string;
  expression: string;
}

export interface WebhookClientConfig {
  url?: string | undefined;
  service?: ServiceReference | undefined;
  caBundle?: string | undefined;
}
