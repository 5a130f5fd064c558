/** Refusals of evictions as the API server hands them to clients. */
import {
  type DisruptionIndex,
  explainEviction,
  explanationCauses,
  formatRefusal,
  type Judgement,
  processing,
  type Refusal,
  type RefusalAnswer,
} from '../decisions/disruption/index.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import { refuse, type ReviewResponse } from './review.ts';

export interface Judged {
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly now: number;
  readonly judgement: Judgement;
}

export function refusal(index: DisruptionIndex, verdict: Refusal, { judgement, now, pod }: Judged): ReviewResponse {
  const explanation = explainEviction(index, pod, now, judgement);
  return answer(formatRefusal(verdict), explanation === undefined ? [] : explanationCauses(explanation, now));
}

export function answer(
  { cause, code, message, reason, retryAfterSeconds }: RefusalAnswer,
  more: readonly { reason: string; message: string }[] = [],
): ReviewResponse {
  const causes = [...(cause === undefined ? [] : [{ reason: 'DisruptionBudget', message: cause }]), ...more];
  return refuse({
    code,
    reason,
    message,
    details: { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
  });
}

/** The replica that holds the ledger does not let go. */
export function held(budgetName: string): RefusalAnswer {
  const message = `Cannot evict pod: the replica of Quorate that decides for budget ${budgetName} does not answer. If it is gone, the others decide after ${ABANDONED_MS / 1000} seconds; try again.`;
  return { ...processing(budgetName), message };
}

export function noLedger(budgetName: string): RefusalAnswer {
  const message = `Cannot evict pod: budget ${budgetName} has no DisruptionLedger yet, in which Quorate notes what it grants; try again.`;
  return { ...processing(budgetName), message, retryAfterSeconds: 1 };
}

export const changedTooOften: RefusalAnswer = {
  ...processing('of this pod'),
  message: 'Cannot evict pod: its disruption ledger changed too often, try again.',
};
