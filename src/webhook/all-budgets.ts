import { type EvictionWebhook, recordEviction } from './eviction.ts';
import { foreseeRefusal } from './foreseen.ts';
import { askBudgets, type PodWebhook } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * Asks both kinds of budget about an eviction, such that none is charged for what another refuses:
 *  1. PodUnavailableBudgets, without a charge
 *  2. the PodDisruptionBudget, recorded where it counts groups
 *  3. where it counts pods, what Kubernetes will say; only of interest when there is a charge to follow
 *  4. PodUnavailableBudgets are charged; a refusal takes back what was recorded
 */
export async function reviewAllBudgets(
  webhook: EvictionWebhook & PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const opinion = await askBudgets(webhook, request, signal);
  if (opinion.settled && !opinion.response.allowed) return opinion.response;
  const { recorded, response } = await recordEviction(webhook, request, signal);
  if (!response.allowed || opinion.settled) return response;
  const charged = (await foreseeRefusal(webhook, request)) ?? (await opinion.charge());
  if (charged.allowed) return response;
  if (recorded !== undefined) await webhook.ledgers.takeBack(recorded.ledger, recorded.grant, recorded.before);
  return charged;
}
