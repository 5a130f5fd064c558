/** Which group goes first, where a choice is left. Pure. */
export * from './compare.ts';
export { type CostWarning, costOf, DISRUPTION_COST } from './cost.ts';
export * from './unit.ts';
