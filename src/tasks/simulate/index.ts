export { type Action } from './actions.ts';
export { simulate, type SimulationOptions, type SimulationResult } from './simulate.ts';
export type { BudgetLine } from './timeline.ts';
