import { reviewAsOne } from './as-one.ts';
import { answerUnknown, type EvictionWebhook, recordEviction } from './eviction.ts';
import { foreseeRefusal } from './foreseen.ts';
import { isDryRun } from './pins.ts';
import { reviewNotice } from './notices.ts';
import { chargeLimits } from './policy-desk.ts';
import { askBudgets, type PodWebhook } from './pods.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * Asks both kinds of budget about an eviction, such that none is charged for what another refuses:
 *  1. a pod that is not known here is looked for: it is judged by all, or by nobody
 *  2. PodUnavailableBudgets, without a charge
 *  3. notice: a member of a group that is told, or has to be told first, waits for the end of that
 *  4. a group that may only be disrupted together goes by a GroupEviction
 *  5. the PodDisruptionBudget, recorded where it counts groups
 *  6. where it counts pods, what Kubernetes will say; only of interest when there is a charge to follow
 *  7. the limits of DisruptionPolicies, entered in their ledgers
 *  8. PodUnavailableBudgets are charged; a refusal takes back what was recorded
 */
export async function reviewAllBudgets(
  webhook: EvictionWebhook & PodWebhook & { readonly givesNotice?: boolean | undefined },
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  const unknown = await answerUnknown(webhook, request, signal);
  if (unknown !== undefined) return unknown;
  const opinion = await askBudgets(webhook, request, signal);
  if (opinion.settled && !opinion.response.allowed) return opinion.response;
  const notice = webhook.givesNotice === true ? await reviewNotice(webhook, request, signal) : {};
  if (notice.response !== undefined) return notice.response;
  const together = webhook.givesNotice === true ? await reviewAsOne(webhook, request, signal) : undefined;
  if (together !== undefined) {
    return notice.warning === undefined ? together : withWarning(together, notice.warning);
  }
  const judged = await recordEviction(webhook, request, signal);
  if (!judged.response.allowed) return judged.response;
  const { recorded } = judged;
  const response = notice.warning === undefined ? judged.response : withWarning(judged.response, notice.warning);
  const { name = '', namespace = '' } = request;
  const isLimited = webhook.index.limitsOn(namespace, name) !== undefined;
  if (opinion.settled && !isLimited) return response;
  const takeBack = async (): Promise<void> => {
    if (recorded === undefined) return;
    webhook.index.room?.withdraw(recorded.unit ?? '');
    await webhook.ledgers.takeBack(recorded.ledger, recorded.grant, recorded.before);
  };
  const foreseen = await foreseeRefusal(webhook, request);
  if (foreseen !== undefined) {
    await takeBack();
    return foreseen;
  }
  const by = request.userInfo?.username ?? '';
  const limited = await chargeLimits(
    webhook,
    { pod: { namespace, name }, by, dryRun: isDryRun(request), isCordoned: webhook.isCordoned },
    signal,
  );
  if ('response' in limited) {
    await takeBack();
    return limited.response;
  }
  if (opinion.settled) return response;
  const charged = await opinion.charge();
  if (charged.allowed) return response;
  await takeBack();
  await limited.undo();
  return charged;
}

const withWarning = (response: ReviewResponse, warning: string): ReviewResponse => ({
  ...response,
  warnings: [...(response.warnings ?? []), warning],
});
