export { createDisruptionView } from './disruption-view.ts';
export { addEviction, type EvictionOptions } from './subresource.ts';
export type { EvictionGuard, GuardedEviction, GuardVerdict } from './guard.ts';
export { chargeBudget } from './charge.ts';
export { removePod } from './remove-pod.ts';
