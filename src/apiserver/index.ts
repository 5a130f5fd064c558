export type {
  AuthenticationResult,
  Authenticator,
  AuthorizationAttributes,
  AuthorizationVerdict,
  Authorizer,
} from './access.ts';
export { allowAll } from './access.ts';
export type { AdmissionAttributes, AdmissionOperation, AdmissionPlugin } from './admission.ts';
export type { Codec, FieldManager } from './codec-seam.ts';
export {
  addEviction,
  createDisruptionView,
  type EvictionGuard,
  type EvictionOptions,
  type GuardedEviction,
  type GuardVerdict,
} from './eviction/index.ts';
export type { ApiHandler, ApiRequest, ApiResponse, Peer, StreamBody, StreamSink } from './exchange.ts';
export { groupEvictionPlugin } from './group-eviction/index.ts';
export { inProcessTransport, systemAdmin } from './in-process.ts';
export type { Kernel } from './kernel.ts';
export { metricsRoute } from './metrics-route.ts';
export { registerStorageMetrics } from './storage-metrics.ts';
export { builtinRows } from './kinds/rows.ts';
export type { ApiObject, ObjectMeta } from './object.ts';
export type { HealthCheck, PlainRoute } from './plain-routes.ts';
export { Registry } from './registry/registry.ts';
export { objectKey, type ResourceRow, type VersionRow } from './registry/row.ts';
export type { Strategy, TableLayout } from './registry/strategy.ts';
export type { Subresource, SubresourceCall } from './registry/subresource.ts';
export { checkDeleteOptions } from './request/delete-options.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
export { deleteInTransaction } from './stored/deletion.ts';
export { putObject } from './stored/encoding.ts';
export type { UserInfo } from './user.ts';
export { anonymous } from './user.ts';
export {
  type Auth,
  createAuth,
  formatKubeconfig,
  openPki,
  type Pki,
  bootstrapRoles,
  writeKubeconfig,
} from './auth/index.ts';
export { builtinAdmission } from './builtin-admission.ts';
export { type Listening, listen } from './http/listen.ts';
export type { TlsMaterial } from './http/tls-server.ts';
export { createCodec } from './codec/index.ts';
export { CustomResources, cleanupBeforeDeletion } from './crd/index.ts';
export { leaderWorkerPods } from './own-kinds/leader-worker-pods.ts';
export { ownRows } from './own-kinds/rows.ts';
export { createUnavailability, type Unavailability, type UnavailabilityOptions } from './unavailability/index.ts';
