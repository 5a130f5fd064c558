export * from './order.ts';
export * from './types.ts';
export { validatePodResponders } from './validate-pod-responders.ts';
export { validateEviction, validateEvictionRequest } from './validate-spec.ts';
export { isTrue, validateEvictionRequestStatus, validateEvictionStatus } from './validate-status.ts';
