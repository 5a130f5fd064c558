export * from './keep-one.ts';
export * from './model.ts';
export * from './naive.ts';
export * from './plan.ts';
export { findUnfit } from './recheck.ts';
