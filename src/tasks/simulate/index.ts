export { type Action, ActionError } from './actions.ts';
export { simulate, type SimulationOptions, type SimulationResult } from './simulate.ts';
export type { BudgetLine, BudgetPoint, Violation } from './timeline.ts';
