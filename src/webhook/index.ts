export { reviewBudget } from './budgets.ts';
export { type DownscaleWebhook, LONGEST_PICKER_SECONDS, reviewDownscale } from './downscale.ts';
export { type EvictionWebhook, reviewEviction } from './eviction.ts';
export { reviewPicker } from './pickers.ts';
export { type GroupWebhook, reviewGroupEviction, settleGroup, type Settlement } from './group-eviction.ts';
export { type PodWebhook, reviewPod } from './pods.ts';
export { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';
export { type ReviewHandler, startWebhookServer, type WebhookServer, type WebhookServerOptions } from './server.ts';
export * from './manifests/index.ts';
