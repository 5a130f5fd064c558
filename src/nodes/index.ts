export * from './annotations.ts';
export { parseRules, RULE_NAMES, type Rules } from './rules.ts';
export { type SimulatedNodesOptions, createSimulatedNodes } from './start.ts';
