export { type ClusterDashboard, serveClusterDashboard } from './cluster.ts';
export { createEmbeddedDashboard } from './embedded.ts';
export { type FollowedFleet, followFleet } from './follow.ts';
export { type LocalDashboard, readNamespaces, serveLocalDashboard } from './local.ts';
