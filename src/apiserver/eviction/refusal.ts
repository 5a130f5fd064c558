import {
  type DisruptionIndex,
  explainEviction,
  explanationCauses,
  formatRefusal,
  type Judgement,
  type PodName,
  type Refusal,
  refusalMessage,
} from '../../decisions/disruption/index.ts';
import { ApiError, failure, type StatusCause } from '../status.ts';

/** The answer to a refused eviction: Kubernetes' own text first, then why and what would help. */
export function refusalError(
  index: DisruptionIndex,
  refusal: Refusal,
  { judgement, now, pod }: { pod: PodName; now: number; judgement: Judgement },
): ApiError {
  const answer = formatRefusal(refusal);
  const { cause, code, reason, retryAfterSeconds } = answer;
  const explanation = explainEviction(index, pod, now, judgement);
  const message = refusalMessage(answer, explanation);
  const more: StatusCause[] = explanation === undefined ? [] : explanationCauses(explanation, now);
  if (code === 500) return failure(500, '', message);
  const causes = [...(cause === undefined ? [] : [{ reason: 'DisruptionBudget', message: cause }]), ...more];
  const budget = refusal.views[0]?.budget.name ?? '';
  return failure(code, reason, message, {
    details:
      code === 403
        ? { name: budget, group: 'policy', kind: 'poddisruptionbudget', causes }
        : { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  });
}
