/** The eviction subresource: decides and charges the budget in one transaction. PodUnavailableBudgets plug in as guards. */
export { createDisruptionView } from './disruption-view.ts';
export { addEviction } from './subresource.ts';
export type { AskNotice, EvictAsOne, EvictionGuard } from './guard.ts';
export { chargeBudget } from './charge.ts';
export { chargePolicies } from './charge-policies.ts';
export { refusalError } from './refusal.ts';
export { holdRoom, holdRooms } from './reserve.ts';
export { type AnswerTeller, tellDeletes, tellGroupEviction } from './told-answers.ts';
export { removePod } from './remove-pod.ts';
