export { parseRules } from '../nodes/index.ts';
export { bootstrapObjects } from './bootstrap.ts';
export * from './disruption/index.ts';
export { type EmbeddedHost, type EmbeddedOptions, startEmbedded } from './embedded.ts';
