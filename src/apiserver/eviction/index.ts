export { createDisruptionView } from './disruption-view.ts';
export { addEviction, type EvictionOptions } from './subresource.ts';
export type { EvictionGuard, GuardedEviction, GuardVerdict } from './guard.ts';
