import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { judgeEviction, readBudget, type Refusal } from '../decisions/disruption/index.ts';
import type { EvictionWebhook } from './eviction.ts';
import { refusal } from './eviction-answers.ts';
import { readOwn } from './eviction-reads.ts';
import type { ReviewRequest, ReviewResponse } from './review.ts';

/**
 * What Kubernetes itself is about to refuse, where the pod's budget counts pods. Asked before another budget is charged
 * for an eviction that then would not happen. The budget is read anew before anything is refused here.
 */
export async function foreseeRefusal(
  webhook: EvictionWebhook,
  { name = '', namespace = '' }: ReviewRequest,
): Promise<ReviewResponse | undefined> {
  const { client, clock, index } = webhook;
  const pod = { namespace, name };
  const views = index.ask(namespace, name, clock.now())?.views ?? [];
  const [view] = views;
  if (view === undefined || views.length > 1 || view.mode.unit !== 'Pod') return undefined;
  const judgement = { isCordoned: webhook.isCordoned };
  const cached = webhook.budget(namespace, view.budget.name);
  const judge = (budget: PodDisruptionBudget): ReviewResponse | undefined =>
    index.suppose([readBudget(budget)], () => {
      const now = clock.now();
      const verdict = judgeEviction(index, pod, now, judgement);
      if (verdict === undefined || verdict.allowed || !isKubernetesOwn(verdict)) return undefined;
      return refusal(index, verdict, { pod, now, judgement });
    });
  if (cached === undefined || judge(cached) === undefined) return undefined;
  const current = await readOwn(client, namespace, view.budget.name);
  return current && judge(current);
}

/** Kubernetes goes by the published numbers alone; where pods seen now make us stricter, it is not. */
function isKubernetesOwn({ reason, views }: Refusal): boolean {
  if (reason === 'BudgetExhausted') return views[0]?.allowed === 0;
  return reason === 'BudgetNotObserved' || reason === 'NegativeAllowance' || reason === 'TooManyDisruptedPods';
}
