export * from './convert-pod-group.ts';
export * from './convert-workload.ts';
export * from './stored.ts';
