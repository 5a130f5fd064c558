/** Which group goes first, where a choice is left. Pure. */
export * from './compare.ts';
export { CHECKPOINT_SCALE, CHECKPOINT_TIME, type CostWarning, costOf, DISRUPTION_COST } from './cost.ts';
export * from './publish.ts';
export * from './unit.ts';
