import type { Refused, RefusalCause } from '../refusal-status.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { nextAllowed } from '../policies/index.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { type Explanation, explainEviction } from './explanation.ts';
import { explanationCauses, refusalMessage } from './explanation-texts.ts';
import type { JudgeOptions } from './judge.ts';
import { formatRefusal, type RefusalAnswer } from './kubernetes-texts.ts';
import type { PodName } from './together.ts';
import type { Refusal } from './verdict.ts';

export interface AskedEviction {
  readonly pod: PodName;
  readonly now: number;
  readonly judgement: JudgeOptions;
}

/** The answer to a refused eviction: Kubernetes' own text first, then why and what would help. */
export function answerRefusal(
  index: DisruptionIndex,
  refusal: Refusal,
  { judgement, now, pod }: AskedEviction,
): Refused {
  const explanation = explainEviction(index, pod, now, judgement);
  const answer = formatRefusal(refusal);
  const told = { ...withCauses(answer, explanation, now), message: refusalMessage(answer, explanation) };
  if (told.code !== 403) return told;
  const name = refusal.views[0]?.budget.name ?? '';
  return { ...told, about: { name, group: 'policy', kind: 'poddisruptionbudget' } };
}

/** Kubernetes' own cause comes first, as clients look for it. */
export function withCauses(
  { cause, limits = [], room, ...answer }: RefusalAnswer,
  explanation?: Explanation,
  now = 0,
): Refused {
  const own: RefusalCause[] = [];
  if (cause !== undefined) own.push({ reason: 'DisruptionBudget', message: cause });
  if (room !== undefined) own.push({ ...room, field: 'spec' });
  for (const { message } of limits) own.push({ reason: 'DisruptionPolicy', message });
  const next = nextAllowed(limits);
  if (next !== undefined) own.push({ reason: 'policy.quorate.dev/next-allowed', message: formatTime(next) });
  return { ...answer, causes: [...own, ...(explanation === undefined ? [] : explanationCauses(explanation, now))] };
}
