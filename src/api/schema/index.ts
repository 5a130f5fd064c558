export { loadSchema } from './load.ts';
export * from './node.ts';
export type * from './types.ts';
