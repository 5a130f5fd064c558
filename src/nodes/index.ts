export * from './annotations.ts';
export type { NodeShape } from './node-object.ts';
export { defaultRules, MISSING_IMAGES, parseRules, RULE_NAMES, type RuleName, type Rules } from './rules.ts';
export type { PodEffect, PodFacts, PodMoments, Stage, StageDelay } from './stage.ts';
export { generalPodStages } from './stages/pod.ts';
export { type Profile, podStages } from './stages/profiles.ts';
export { type SimulatedNodesOptions, startSimulatedNodes } from './start.ts';
