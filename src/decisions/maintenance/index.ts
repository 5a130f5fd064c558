/** What becomes of a Maintenance next, from what is so now. Pure. */
export * from './adopt.ts';
export { budgetBlocker, plannedBlocker, sinceBefore, tellBlocker } from './blockers.ts';
export { decide } from './decide.ts';
export type { Decision } from './decision.ts';
export * from './facts.ts';
export * from './make-plan.ts';
export { claimedByOthers, currentStep, isLeft, nextNodeStates } from './node-states.ts';
export * from './nodes.ts';
export { stepsToCome } from './progress.ts';
export { isYielding, stepBack } from './yield.ts';
