/**
 * The embedded API server: requests in, stored objects and watches out. Sees the storage, decisions, api and machinery,
 * and no other room. Its folders have borders of their own, lowest first in .dependency-cruiser.cjs.
 */
export type { AdmissionPlugin } from './context/admission-plugin.ts';
export {
  addEviction,
  type AnswerTeller,
  createDisruptionView,
  type EvictionGuard,
  refusalError,
  tellDeletes,
} from './eviction/index.ts';
export type { ApiHandler, ApiRequest, ApiResponse, StreamBody, StreamSink } from './exchange/exchange.ts';
export { asOneEvictor, groupEvictionPlugin, noticeAsker } from './group-eviction/index.ts';
export { inProcessTransport, systemAdmin } from './server/in-process.ts';
export type { ServerContext } from './context/server-context.ts';
export { metricsRoute } from './routes/metrics-route.ts';
export { registerServerMetrics } from './routes/server-metrics.ts';
export { registerStorageMetrics } from './routes/storage-metrics.ts';
export { builtinResources } from './kinds/resources.ts';
export { objectKey } from './registry/resource.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server/server.ts';
export type { UserInfo } from './exchange/user.ts';
export { anonymous } from './exchange/user.ts';
export {
  createAuth,
  FRONT_PROXY,
  legacyTokenIssuer,
  type TokenUse,
  openPki,
  type Pki,
  bootstrapRoles,
  writeKubeconfig,
} from './auth/index.ts';
export { keepApiServices } from './aggregation/index.ts';
export { bootstrapFlowControl } from './flow-control/index.ts';
export { builtinAdmission } from './server/builtin-admission.ts';
export { type Listening, listen } from './http/listen.ts';
export type { TlsMaterial } from './http/tls-server.ts';
export { createCodec } from './codec/index.ts';
export { CustomResources } from './crd/index.ts';
export { disruptionPolicyPlugin } from './admission/disruption-policy.ts';
export { maintenancePlugin } from './admission/maintenance.ts';
export { leaderWorkerPods } from './admission/leader-worker-pods.ts';
export { ownResources } from './own-kinds/resources.ts';
export {
  createUnavailability,
  type UnavailabilityOptions,
} from './unavailability/index.ts';
