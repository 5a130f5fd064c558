/** Refusals as the API server hands them to clients. */
import {
  answerRefusal,
  type AskedEviction,
  type DisruptionIndex,
  processing,
  type Refusal,
  type RefusalAnswer,
  withCauses,
} from '../decisions/disruption/index.ts';
import { type Refused, refusalStatus } from '../decisions/refusal-status.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import { refuse, type ReviewResponse } from './review.ts';

export const tell = (refused: Refused): ReviewResponse => refuse(refusalStatus(refused));

/** Drains wait for 429 only: numbers that cannot be right are counted anew, and never a reason to give up. */
export function refusal(index: DisruptionIndex, verdict: Refusal, asked: AskedEviction): ReviewResponse {
  const refused = answerRefusal(index, verdict, asked);
  return refused.code === 403 ? answer(processing(verdict.views[0]?.budget.name ?? '')) : tell(refused);
}

export const answer = (refused: RefusalAnswer): ReviewResponse => tell(withCauses(refused));

/** As the API server says it. Whoever drains takes it for done. */
export function notFound(pod: string): ReviewResponse {
  const about = { name: pod, group: '', kind: 'pods' };
  return tell({ code: 404, reason: 'NotFound', message: `pods "${pod}" not found`, causes: [], about });
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

/** Budgets over time are judged by the time of day, which this replica cannot be trusted to know. */
export function clockSkewed(skewMs: number): ReviewResponse {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const message = `Cannot evict pod: the clock of this replica of Quorate is ${seconds} s ${side} the API server's, and its DisruptionPolicy has limits over time. Another replica may decide; set the clock, or try again.`;
  return tell({ code: 429, reason: 'TooManyRequests', message, causes: [{ reason: 'ClockSkewed', message }] });
}

export const changedTooOften: RefusalAnswer = {
  ...processing('of this pod'),
  message: 'Cannot evict pod: its disruption ledger changed too often, try again.',
};
