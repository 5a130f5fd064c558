import type { BudgetIndex, IndexedBudget } from './budget-index.ts';
import type { AllowReason, RefuseReason } from './decide.ts';
import { type JudgeQuestion, judgeUnavailability, type UnavailabilityRefusal } from './judge.ts';
import { explainRefusal } from './refusal-status.ts';

/** What one budget would say to an eviction of a pod now. */
export interface UnavailabilityOpinion {
  readonly budget: string;
  readonly allowed: boolean;
  readonly reason: AllowReason | RefuseReason;
  /** The text of a refusal, as the request would get it. */
  readonly message?: string;
  readonly causes: readonly { readonly reason: string; readonly message: string }[];
}

export type ExplainQuestion = Pick<JudgeQuestion, 'gates' | 'scaleOf' | 'nowMs' | 'compat' | 'leftover' | 'room'>;

/** Asks every PodUnavailableBudget of a pod the very question an eviction would ask. */
export function explainUnavailability(
  index: BudgetIndex,
  podName: string,
  question: ExplainQuestion,
): UnavailabilityOpinion[] {
  const pod = index.pod(podName);
  if (pod === undefined) return [];
  return index.judging(podName).map((entry) => {
    const budget = entry.budget.metadata.name ?? '';
    const judgement = judgeUnavailability({ ...question, operation: 'EVICT', pod, covering: [entry] });
    if (judgement.allowed) {
      const reason = judgement.grants[0]?.verdict.reason ?? 'NotServing';
      return { budget, allowed: true, reason, causes: [] };
    }
    const [opinion] = explainRefusals(judgement.refusals);
    if (opinion === undefined) throw new Error(`Cannot explain budget ${budget}: it refuses without saying why`);
    return opinion;
  });
}

/** The refusals of a judgement, each as its request would get it. */
export function explainRefusals(
  refusals: readonly { readonly entry: IndexedBudget; readonly verdict: UnavailabilityRefusal }[],
): UnavailabilityOpinion[] {
  return refusals.map(({ entry, verdict }) => ({
    budget: entry.budget.metadata.name ?? '',
    allowed: false,
    reason: verdict.reason,
    message: verdict.message,
    causes: explainRefusal(entry, verdict),
  }));
}

/** Where one budget stands. */
export interface UnavailableBudgetExplanation {
  readonly namespace: string;
  readonly name: string;
  readonly counts: 'Pod' | 'PodGroup';
  readonly expected: number;
  readonly available: number;
  readonly desired: number;
  readonly allowed: number;
  /** The controller has answered the present spec. */
  readonly observed: boolean;
  readonly pods: number;
  readonly conditions: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  readonly causes: readonly { readonly reason: string; readonly message: string }[];
}

export function explainUnavailableBudget(entry: IndexedBudget): UnavailableBudgetExplanation {
  const { budget, tally } = entry;
  const { metadata, spec = {}, status = {} } = budget;
  const grouped = spec.podGroupPolicy !== undefined;
  const allowed = status.unavailableAllowed ?? 0;
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const causes = explainRefusal(entry, { reason: observed ? 'BudgetExhausted' : 'StatusStale' });
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    counts: grouped ? 'PodGroup' : 'Pod',
    expected: status.totalReplicas ?? 0,
    available: grouped ? tally.availableGroups : tally.availablePods,
    desired: status.desiredAvailable ?? 0,
    allowed,
    observed,
    pods: tally.pods.size,
    conditions: (status.conditions ?? [])
      .filter((condition) => condition.status === 'True')
      .map(({ message, reason, type }) => ({ type, reason, message })),
    causes: allowed > 0 ? causes.filter(({ reason }) => reason !== 'QuorateUnblock') : causes,
  };
}
