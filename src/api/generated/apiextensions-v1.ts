// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ListMeta, ObjectMeta, Status } from './meta-v1.ts';

export interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: unknown[];
}

export interface ConversionResponse {
  uid: string;
  convertedObjects: unknown[];
  result: Status;
}

export interface ConversionReview {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  request?: ConversionRequest | undefined;
  response?: ConversionResponse | undefined;
}

export interface CustomResourceColumnDefinition {
  name: string;
  type: string;
  format?: string | undefined;
  description?: string | undefined;
  priority?: number | undefined;
  jsonPath: string;
}

export interface CustomResourceConversion {
  strategy: string;
  webhook?: WebhookConversion | undefined;
}

export interface CustomResourceDefinition {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: CustomResourceDefinitionSpec | undefined;
  status?: CustomResourceDefinitionStatus | undefined;
}

export interface CustomResourceDefinitionCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
  observedGeneration?: number | undefined;
}

export interface CustomResourceDefinitionList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CustomResourceDefinition[];
}

export interface CustomResourceDefinitionNames {
  plural: string;
  singular?: string | undefined;
  shortNames?: string[] | undefined;
  kind: string;
  listKind?: string | undefined;
  categories?: string[] | undefined;
}

export interface CustomResourceDefinitionSpec {
  group: string;
  names: CustomResourceDefinitionNames;
  scope: string;
  versions: CustomResourceDefinitionVersion[];
  conversion?: CustomResourceConversion | undefined;
  preserveUnknownFields?: boolean | undefined;
}

export interface CustomResourceDefinitionStatus {
  conditions?: CustomResourceDefinitionCondition[] | undefined;
  acceptedNames?: CustomResourceDefinitionNames | undefined;
  storedVersions?: string[] | undefined;
  observedGeneration?: number | undefined;
}

export interface CustomResourceDefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean | undefined;
  deprecationWarning?: string | undefined;
  schema?: CustomResourceValidation | undefined;
  subresources?: CustomResourceSubresources | undefined;
  additionalPrinterColumns?: CustomResourceColumnDefinition[] | undefined;
  selectableFields?: SelectableField[] | undefined;
}

export interface CustomResourceSubresourceScale {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string | undefined;
}

export type CustomResourceSubresourceStatus = Record<string, never>;

export interface CustomResourceSubresources {
  status?: CustomResourceSubresourceStatus | undefined;
  scale?: CustomResourceSubresourceScale | undefined;
}

export interface CustomResourceValidation {
  openAPIV3Schema?: JSONSchemaProps | undefined;
}

export interface ExternalDocumentation {
  description?: string | undefined;
  url?: string | undefined;
}

export interface JSONSchemaProps {
  id?: string | undefined;
  '$schema'?: string | undefined;
  '$ref'?: string | undefined;
  description?: string | undefined;
  type?: string | undefined;
  format?: string | undefined;
  title?: string | undefined;
  default?: unknown;
  maximum?: number | undefined;
  exclusiveMaximum?: boolean | undefined;
  minimum?: number | undefined;
  exclusiveMinimum?: boolean | undefined;
  maxLength?: number | undefined;
  minLength?: number | undefined;
  pattern?: string | undefined;
  maxItems?: number | undefined;
  minItems?: number | undefined;
  uniqueItems?: boolean | undefined;
  multipleOf?: number | undefined;
  enum?: unknown[] | undefined;
  maxProperties?: number | undefined;
  minProperties?: number | undefined;
  required?: string[] | undefined;
  items?: JSONSchemaProps | JSONSchemaProps[] | undefined;
  allOf?: JSONSchemaProps[] | undefined;
  oneOf?: JSONSchemaProps[] | undefined;
  anyOf?: JSONSchemaProps[] | undefined;
  not?: JSONSchemaProps | undefined;
  properties?: Record<string, JSONSchemaProps> | undefined;
  additionalProperties?: JSONSchemaProps | boolean | undefined;
  patternProperties?: Record<string, JSONSchemaProps> | undefined;
  dependencies?: Record<string, JSONSchemaProps | string[]> | undefined;
  additionalItems?: JSONSchemaProps | boolean | undefined;
  definitions?: Record<string, JSONSchemaProps> | undefined;
  externalDocs?: ExternalDocumentation | undefined;
  example?: unknown;
  nullable?: boolean | undefined;
  'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  'x-kubernetes-embedded-resource'?: boolean | undefined;
  'x-kubernetes-int-or-string'?: boolean | undefined;
  'x-kubernetes-list-map-keys'?: string[] | undefined;
  'x-kubernetes-list-type'?: string | undefined;
  'x-kubernetes-map-type'?: string | undefined;
  'x-kubernetes-validations'?: ValidationRule[] | undefined;
}

export interface SelectableField {
  jsonPath: string;
}

export interface ServiceReference {
  namespace: string;
  name: string;
  path?: string | undefined;
  port?: number | undefined;
}

export interface ValidationRule {
  rule: string;
  message?: string | undefined;
  messageExpression?: string | undefined;
  reason?: string | undefined;
  fieldPath?: string | undefined;
  optionalOldSelf?: boolean | undefined;
}

export interface WebhookClientConfig {
  url?: string | undefined;
  service?: ServiceReference | undefined;
  caBundle?: string | undefined;
}

export interface WebhookConversion {
  clientConfig?: WebhookClientConfig | undefined;
  conversionReviewVersions: string[];
}
