/** Structural schemas of custom resources: checking one, and pruning, defaulting and validating objects by it. */
export { checkStructural } from './check.ts';
export { defaultCustom } from './defaults.ts';
export { structuralSchemas } from './library.ts';
export { validateListTypes } from './list-types.ts';
export { nodeOfCustom } from './node.ts';
export { pruneCustom } from './prune.ts';
export type { StructuralSchema } from './schema.ts';
export { validateCustom } from './validate.ts';
