// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate

export interface APIGroup {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  name: string;
  versions: GroupVersionForDiscovery[];
  preferredVersion?: GroupVersionForDiscovery | undefined;
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[] | undefined;
}

export interface APIGroupList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  groups: APIGroup[];
}

export interface APIResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string | undefined;
  version?: string | undefined;
  kind: string;
  verbs: string[];
  shortNames?: string[] | undefined;
  categories?: string[] | undefined;
  storageVersionHash?: string | undefined;
}

export interface APIResourceList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  groupVersion: string;
  resources: APIResource[];
}

export interface APIVersions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  versions: string[];
  serverAddressByClientCIDRs: ServerAddressByClientCIDR[];
}

export interface Condition {
  type: string;
  status: string;
  observedGeneration?: number | undefined;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

export interface CreateOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  dryRun?: string[] | undefined;
  fieldManager?: string | undefined;
  fieldValidation?: string | undefined;
}

export interface DeleteOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  gracePeriodSeconds?: number | undefined;
  preconditions?: Preconditions | undefined;
  orphanDependents?: boolean | undefined;
  propagationPolicy?: string | undefined;
  dryRun?: string[] | undefined;
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined;
}

export interface FieldSelectorRequirement {
  key: string;
  operator: string;
  values?: string[] | undefined;
}

export interface GetOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  resourceVersion?: string | undefined;
}

export interface GroupVersionForDiscovery {
  groupVersion: string;
  version: string;
}

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

export interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}

export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?: LabelSelectorRequirement[] | undefined;
}

export interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[] | undefined;
}

export interface ListMeta {
  selfLink?: string | undefined;
  resourceVersion?: string | undefined;
  continue?: string | undefined;
  remainingItemCount?: number | undefined;
  shardInfo?: ShardInfo | undefined;
}

export interface ListOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  watch?: boolean | undefined;
  allowWatchBookmarks?: boolean | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  timeoutSeconds?: number | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  sendInitialEvents?: boolean | undefined;
  shardSelector?: string | undefined;
}

export interface ManagedFieldsEntry {
  manager?: string | undefined;
  operation?: string | undefined;
  apiVersion?: string | undefined;
  time?: string | undefined;
  fieldsType?: string | undefined;
  fieldsV1?: Record<string, unknown> | undefined;
  subresource?: string | undefined;
}

export interface ObjectMeta {
  name?: string | undefined;
  generateName?: string | undefined;
  namespace?: string | undefined;
  selfLink?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  ownerReferences?: OwnerReference[] | undefined;
  finalizers?: string[] | undefined;
  managedFields?: ManagedFieldsEntry[] | undefined;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

export interface PartialObjectMetadata {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
}

export interface PartialObjectMetadataList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PartialObjectMetadata[];
}

export interface PatchOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  dryRun?: string[] | undefined;
  force?: boolean | undefined;
  fieldManager?: string | undefined;
  fieldValidation?: string | undefined;
}

export interface Preconditions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
}

export interface ServerAddressByClientCIDR {
  clientCIDR: string;
  serverAddress: string;
}

export interface ShardInfo {
  selector: string;
}

export interface Status {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  status?: string | undefined;
  message?: string | undefined;
  reason?: string | undefined;
  details?: StatusDetails | undefined;
  code?: number | undefined;
}

export interface StatusCause {
  reason?: string | undefined;
  message?: string | undefined;
  field?: string | undefined;
}

export interface StatusDetails {
  name?: string | undefined;
  group?: string | undefined;
  kind?: string | undefined;
  uid?: string | undefined;
  causes?: StatusCause[] | undefined;
  retryAfterSeconds?: number | undefined;
}

export interface Table {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  columnDefinitions: TableColumnDefinition[];
  rows: TableRow[];
}

export interface TableColumnDefinition {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  includeObject?: string | undefined;
}

export interface TableRow {
  cells: unknown[];
  conditions?: TableRowCondition[] | undefined;
  object?: unknown;
}

export interface TableRowCondition {
  type: string;
  status: string;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface UpdateOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  dryRun?: string[] | undefined;
  fieldManager?: string | undefined;
  fieldValidation?: string | undefined;
}

export interface WatchEvent {
  type: string;
  object: unknown;
}
