export { BudgetCopies } from './budget-copies.ts';
export { reviewBudget } from './budgets.ts';
export { type DownscaleWebhook, LONGEST_PICKER_SECONDS, reviewDownscale } from './downscale.ts';
export type { EvictionWebhook } from './eviction.ts';
export { ABANDONED_MS } from './ledger-hold.ts';
export { LedgerDesk, type LedgerDeskOptions } from './ledger-desk.ts';
export { reviewAllBudgets } from './all-budgets.ts';
export { reviewGroup } from './groups.ts';
export { type LinkResult, type LinkWebhook, reviewLink, reviewOwner } from './link.ts';
export { reviewPicker } from './pickers.ts';
export { type GroupWebhook, reviewGroupEviction, settleGroup, type Settlement } from './group-eviction.ts';
export { beginNotice, endNotice, type NoticeWebhook } from './notices.ts';
export { reviewEvictionRequest } from './eviction-requests.ts';
export { reviewDisruptionPolicy } from './policies.ts';
export { type MaintenanceWebhook, reviewMaintenance } from './maintenances.ts';
export { type PodWebhook, reviewPod } from './pods.ts';
export { Publisher } from './publisher.ts';
export { type NamespaceFollower, sawAllOfNow, sawPodsOfNow } from './pods-seen.ts';
export type { RoomHolder } from './reserve.ts';
export { keepListedRooms, type RoomFollower } from './room.ts';
export { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';
export { callersByCertificate, callersByToken, type Callers, splitToken, withToken } from './callers.ts';
export { answerProbe, type ProbeCheck, watchEventLoop } from './health.ts';
export { DRAIN_BLOCKED } from './blocked-condition.ts';
export { DrainReports, TELL_AGAIN_MS } from './drain-reports.ts';
export type { TellJudged } from './judged.ts';
export { measureLedgers } from './ledger-measure.ts';
export { HOLD_MS } from './ledger-hold.ts';
export { reviewPath } from './routes.ts';
export { telling } from './told-answers.ts';
export { keepStatus, reviewStatus, type StatusWebhook } from './status.ts';
export {
  type RejectedReason,
  type ReviewHandler,
  startWebhookServer,
  type WebhookServer,
  type WebhookServerOptions,
} from './server.ts';
export * from './manifests/index.ts';
