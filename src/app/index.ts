export { parseRules } from '../nodes/index.ts';
export { bootstrapObjects } from './bootstrap.ts';
export type { PickerOptions } from './components.ts';
export * from './disruption/index.ts';
export { type Diagnosis, diagnose, type Finding, type FindingStatus } from './doctor/index.ts';
export { type ClusterScheduler, type ClusterSchedulerOptions, startClusterScheduler } from './cluster-scheduler.ts';
export { type EmbeddedHost, type EmbeddedOptions, startEmbedded } from './embedded.ts';
export {
  MISSING_IMAGES,
  POWER,
  type Rules,
  RULE_NAMES,
  SIMULATED,
  type SimulatedNodesOptions,
} from '../nodes/index.ts';
export { type NodesHost, type NodesHostOptions, startNodes } from './nodes.ts';
export * from './lint/index.ts';
export * from './operator/index.ts';
export * from './plan/index.ts';
export { DocumentError } from './read-document.ts';
export * from './simulate/index.ts';
export * from './why/index.ts';
export * from './snapshot/index.ts';
export * from './demo/index.ts';
