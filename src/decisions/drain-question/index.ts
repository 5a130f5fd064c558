/** From what a cluster says to what the drain planner is asked. Pure. */
export * from './drain-filter.ts';
export * from './question.ts';
export * from './statements.ts';
export * from './units.ts';
export * from './wholesale.ts';
export type { RecoveryOf, ToldTimes } from './times.ts';
