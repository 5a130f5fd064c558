export * from './drain.ts';
export type { DrainRules } from './drain-filter.ts';
export { type BudgetState, evictionBudgets, gatherBudgets } from './gather.ts';
export { CannotTellError, ClusterReader } from './cluster-reader.ts';
export { evictGroup, type GroupOutcome, type GroupRequest, type GroupResult } from './evict-group.ts';
