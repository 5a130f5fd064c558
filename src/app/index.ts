export { parseRules } from '../nodes/index.ts';
export { bootstrapObjects } from './bootstrap.ts';
export * from './disruption/index.ts';
export { type ClusterScheduler, type ClusterSchedulerOptions, startClusterScheduler } from './cluster-scheduler.ts';
export { type EmbeddedHost, type EmbeddedOptions, startEmbedded } from './embedded.ts';
