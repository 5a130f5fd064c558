import { type EvictionWebhook, recordEviction } from './eviction.ts';
import { foreseeRefusal } from './foreseen.ts';
import { isDryRun } from './pins.ts';
import { type PodWebhook, reviewPod } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * Asks both kinds of budget about an eviction, such that none is charged for what another refuses:
 *  1. PodUnavailableBudgets, without a charge
 *  2. the PodDisruptionBudget, recorded where it counts groups
 *  3. where it counts pods, what Kubernetes will say; only of interest when there is a charge to follow
 *  4. PodUnavailableBudgets, charged; a refusal takes back what was recorded
 */
export async function reviewAllBudgets(
  webhook: EvictionWebhook & PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const asked = await reviewPod(webhook, request, signal, { charge: false });
  if (!asked.allowed) return asked;
  const { recorded, response } = await recordEviction(webhook, request, signal);
  if (!response.allowed) return response;
  const covered = webhook.indexes.of(request.namespace ?? '').judging(request.name ?? '').length > 0;
  if (!covered) return response;
  const foreseen = await foreseeRefusal(webhook, request);
  const charged = foreseen ?? (await reviewPod(webhook, request, signal, { charge: !isDryRun(request) }));
  if (charged.allowed) return response;
  if (recorded !== undefined) await webhook.ledgers.takeBack(recorded.ledger, recorded.grant, recorded.before);
  return charged;
}
