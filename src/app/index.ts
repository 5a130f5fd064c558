/**
 * Starts the hosts: the embedded API server with its controllers, the operator on a cluster, simulated nodes and the
 * scheduler on their own. What runs against a host on somebody's request (drain, plan, why, …) lives in src/tasks.
 */
export { parseRules } from '../nodes/index.ts';
export type { PickerOptions } from './components.ts';
export { type ClusterScheduler, startClusterScheduler } from './cluster-scheduler.ts';
export {
  type FollowedFleet,
  followFleet,
  type LocalDashboard,
  readNamespaces,
  serveLocalDashboard,
} from './dashboard/index.ts';
export { type EmbeddedHost, type EmbeddedOptions, startEmbedded } from './embedded.ts';
export { POWER, RULE_NAMES, SIMULATED } from '../nodes/index.ts';
export { type NodesHost, startNodes } from './nodes.ts';
export * from './operator/index.ts';
