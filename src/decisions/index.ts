/** The decisions, each pure: facts in, a verdict with a named reason out. */
export * as allBudgets from './all-budgets/index.ts';
export * as disruption from './disruption/index.ts';
export * as downscale from './downscale/index.ts';
export * as drainPlan from './drain-plan/index.ts';
export * as drainQuestion from './drain-question/index.ts';
export * as gang from './gang/index.ts';
export * as groupCost from './group-cost/index.ts';
export * as groupEviction from './group-eviction/index.ts';
export * as lint from './lint/index.ts';
export * as unavailability from './unavailability/index.ts';
export * as windows from './windows/index.ts';
