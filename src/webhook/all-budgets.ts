import { type EvictionWebhook, foreseeRefusal, reviewEviction } from './eviction.ts';
import { type PodWebhook, reviewPod } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * Asks both kinds of budget about an eviction, such that none is charged for what another refuses:
 *  1. PodUnavailableBudgets, without a charge
 *  2. the PodDisruptionBudget, charged where it counts groups
 *  3. where it counts pods, what Kubernetes will say; only of interest when there is a charge to follow
 *  4. PodUnavailableBudgets, charged
 */
export async function reviewAllBudgets(
  webhook: EvictionWebhook & PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const asked = await reviewPod(webhook, request, signal, { charge: false });
  if (!asked.allowed) return asked;
  const granted = await reviewEviction(webhook, request, signal);
  if (!granted.allowed) return granted;
  const covered = webhook.indexes.of(request.namespace ?? '').judging(request.name ?? '').length > 0;
  const foreseen = covered ? await foreseeRefusal(webhook, request) : undefined;
  return foreseen ?? reviewPod(webhook, request, signal);
}
