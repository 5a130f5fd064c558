export * from './convert-pod-group.ts';
export * from './convert-workload.ts';
export * from './stored.ts';
export * from './carry.ts';
export * from './defaults.ts';
export * from './discover.ts';
export * from './validate-pod-group.ts';
export * from './validate-workload.ts';
