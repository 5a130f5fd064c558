import type { PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { BudgetIndex, IndexedBudget } from './budget-index.ts';
import { chargedStatus, type JudgeQuestion, judgeUnavailability, type Refusal } from './judge.ts';

export interface JointQuestion extends Omit<JudgeQuestion, 'pod' | 'covering'> {
  readonly index: BudgetIndex;
  /** In the order in which they would go. */
  readonly pods: readonly string[];
}

export type JointJudgement =
  | {
      readonly allowed: true;
      /** Every budget to write to, with its status once all pods are recorded. */
      readonly charges: readonly { readonly entry: IndexedBudget; readonly status: PodUnavailableBudgetStatus }[];
    }
  | {
      readonly allowed: false;
      readonly pod: Pod;
      readonly refusals: readonly { readonly entry: IndexedBudget; readonly verdict: Refusal }[];
    };

/**
 * Asks every budget whether these pods may all be disturbed at once: each is judged as if those before it were gone.
 * The counts are moved while asking and left as they were found.
 */
export function judgeTogether({ index, pods, ...question }: JointQuestion): JointJudgement {
  const trials = new Map<string, { entry: IndexedBudget; status: PodUnavailableBudgetStatus }>();
  try {
    for (const name of pods) {
      const pod = index.pod(name);
      if (pod === undefined) continue;
      const covering = index.judging(name).map((entry) => {
        const trial = trials.get(entry.budget.metadata.name ?? '');
        return trial === undefined ? entry : { ...entry, budget: { ...entry.budget, status: trial.status } };
      });
      const judgement = judgeUnavailability({ ...question, pod, covering });
      if (!judgement.allowed) return { allowed: false, pod, refusals: judgement.refusals };
      for (const { entry, verdict } of judgement.grants) {
        const status = chargedStatus(entry.budget.status, verdict, { ...question, podName: name });
        const budgetName = entry.budget.metadata.name ?? '';
        const original = index.budget(budgetName);
        if (status === undefined || original === undefined) continue;
        trials.set(budgetName, { entry: original, status });
        entry.tally.setLedger(status);
      }
    }
    return { allowed: true, charges: [...trials.values()] };
  } finally {
    for (const { entry } of trials.values()) entry.tally.setLedger(entry.budget.status ?? {});
  }
}
