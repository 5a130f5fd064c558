import { answerUnknown, type EvictionWebhook, recordEviction } from './eviction.ts';
import { foreseeRefusal } from './foreseen.ts';
import { askBudgets, type PodWebhook } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * Asks both kinds of budget about an eviction, such that none is charged for what another refuses:
 *  1. a pod that is not known here is looked for: it is judged by all, or by nobody
 *  2. PodUnavailableBudgets, without a charge
 *  3. the PodDisruptionBudget, recorded where it counts groups
 *  4. where it counts pods, what Kubernetes will say; only of interest when there is a charge to follow
 *  5. PodUnavailableBudgets are charged; a refusal takes back what was recorded
 */
export async function reviewAllBudgets(
  webhook: EvictionWebhook & PodWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const unknown = await answerUnknown(webhook, request, signal);
  if (unknown !== undefined) return unknown;
  const opinion = await askBudgets(webhook, request, signal);
  if (opinion.settled && !opinion.response.allowed) return opinion.response;
  const { recorded, response } = await recordEviction(webhook, request, signal);
  if (!response.allowed || opinion.settled) return response;
  const charged = (await foreseeRefusal(webhook, request)) ?? (await opinion.charge());
  if (charged.allowed) return response;
  if (recorded !== undefined) await webhook.ledgers.takeBack(recorded.ledger, recorded.grant, recorded.before);
  return charged;
}
