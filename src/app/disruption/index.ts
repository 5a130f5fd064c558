export * from './drain.ts';
export type { DrainRules } from './drain-filter.ts';
export { type DisruptionState, gatherDisruption } from './gather.ts';
export { evictGroup, type GroupOutcome, type GroupRequest, type GroupResult } from './evict-group.ts';
export { gatherUnavailability, type UnavailabilityState } from './gather-unavailability.ts';
