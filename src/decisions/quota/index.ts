export * from './amounts.ts';
export * from './decide.ts';
export * from './pod-resources.ts';
export * from './scopes.ts';
export * from './usage.ts';
