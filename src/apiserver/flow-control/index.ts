export { bootstrapFlowControl } from './bootstrap.ts';
export { costOf } from './cost.ts';
export { type Flow, FlowControl, type FlowControlOptions } from './flow-control.ts';
