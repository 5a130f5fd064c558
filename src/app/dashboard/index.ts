export { createEmbeddedDashboard } from './embedded.ts';
export { type FollowedFleet, followFleet } from './follow.ts';
export { type LocalDashboard, readNamespaces, serveLocalDashboard } from './local.ts';
