/** Takes pods off nodes through the Eviction API: whole nodes, single pods, whole groups. */
export { askServer } from './ask-server.ts';
export * from './drain.ts';
export { type Followed, followDrain } from './follow.ts';
export { evictGroup, type GroupOutcome, type GroupResult } from './evict-group.ts';
