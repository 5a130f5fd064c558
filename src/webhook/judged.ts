/** What became of an eviction, in words that can be counted. */
import type { RefusalReason } from '../decisions/disruption/index.ts';

export interface Judged {
  /** `again`: granted before and not carried out yet. `passed`: no budget over groups has a say. */
  readonly result: 'granted' | 'refused' | 'passed' | 'again' | 'dry_run';
  /** Of a grant what the decision says; of a refusal see `WhyRefused`. */
  readonly reason: string;
  /** The budget over groups that decided; absent where none did. */
  readonly budget?: string | undefined;
  /** The group of a pod that was refused. */
  readonly group?: string | undefined;
  readonly pin?: 'uid' | 'version' | undefined;
}

/** Beside the reasons of the decision: what kept it from being made, or from counting. */
export type WhyRefused =
  | RefusalReason
  | 'HeldElsewhere'
  | 'LedgerMissing'
  | 'PodsNotSeen'
  | 'MapFull'
  /** Room is about to be held, or cannot be. */
  | 'Reserving'
  | 'ReserveFailed'
  /** Whatever else: the API server was slow, others were faster too often, something failed. */
  | 'Unavailable';

/** Reasons that clients cannot tell apart are counted as one. */
const SAME: Readonly<Partial<Record<WhyRefused, WhyRefused>>> = {
  ModeNotObserved: 'BudgetNotObserved',
  NegativeAllowance: 'BudgetNotObserved',
  TooManyDisruptedPods: 'MapFull',
};

export const refusedFor = (reason: WhyRefused, budget?: string, group?: string): Judged => ({
  result: 'refused',
  reason: SAME[reason] ?? reason,
  budget,
  group,
});

export const passed = (reason: string): Judged => ({ result: 'passed', reason });

export type TellJudged = (pod: { readonly namespace: string; readonly name: string }, judged: Judged) => void;
