import type { Pod } from '../../api/generated/core-v1.ts';
import { type AccountQuestion, type Charged, UnavailabilityAccount } from './account.ts';
import type { BudgetIndex, IndexedBudget } from './budget-index.ts';
import type { UnavailabilityRefusal } from './judge.ts';
import type { FoundRoom } from '../disruption/room.ts';

export interface JointQuestion extends AccountQuestion {
  readonly index: BudgetIndex;
  /** In the order in which they would go. */
  readonly pods: readonly string[];
}

export type JointJudgement =
  | {
      readonly allowed: true;
      /** Every budget to write to, with its status once all pods are recorded. */
      readonly charges: readonly Charged[];
      /** The places that it rests on, for budgets that ask for room. */
      readonly rooms: readonly FoundRoom[];
    }
  | {
      readonly allowed: false;
      readonly pod: Pod;
      readonly refusals: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityRefusal }[];
    };

/** Asks every budget whether these pods may all be disturbed at once: each is judged as if those before it were gone. */
export function judgeTogether({ index, pods, ...question }: JointQuestion): JointJudgement {
  const account = new UnavailabilityAccount(index, question);
  return account.run(() => {
    for (const name of pods) {
      const pod = index.pod(name);
      const judgement = account.ask(name);
      if (pod === undefined || judgement === undefined) continue;
      if (!judgement.allowed) return { allowed: false, pod, refusals: judgement.refusals };
      account.take(name, judgement);
    }
    return { allowed: true, charges: account.charges(), rooms: account.rooms() };
  });
}
