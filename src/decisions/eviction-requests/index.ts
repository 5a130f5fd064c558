/** What becomes of EvictionRequests next, from what is so now. Pure. */
export { isOver } from './conditions.ts';
export { decideEviction } from './decide.ts';
export * from './default-responder.ts';
export type { EvictionPlan, EvictionTargetRef, TargetFacts, TargetPod } from './facts.ts';
export * from './group.ts';
export { otherController } from './other-controller.ts';
export { isActive, isSeen, wantsGone } from './requesters.ts';
export { activeTurn, report, turnsOf } from './turns.ts';
