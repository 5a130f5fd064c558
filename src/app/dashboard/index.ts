export { createEmbeddedDashboard } from './embedded.ts';
export { type LocalDashboard, serveLocalDashboard } from './local.ts';
