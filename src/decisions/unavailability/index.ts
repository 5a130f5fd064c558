export * from './decide.ts';
export * from './groups.ts';
export * from './ledger.ts';
export * from './numbers.ts';
export * from './pod-state.ts';
export * from './status.ts';
export * from './tally.ts';
export * from './operation.ts';
