/** How many replicas an amount of something outside the pods asks for, such as the length of a queue. Pure. */
import { isPodReady } from '../../../api/core/pod-state.ts';
import type { UsageQuestion } from './usage.ts';

/** Both in thousandths. */
export type AmountTarget = { readonly totalMillis: number } | { readonly perPodMillis: number };

export interface AmountQuestion extends Pick<UsageQuestion, 'pods' | 'tolerance' | 'currentReplicas'> {
  readonly amountMillis: number;
  readonly target: AmountTarget;
  /** What `status.replicas` of the scale says; a share per pod is counted on it. */
  readonly observedReplicas: number;
}

export type AmountVerdict =
  | {
      readonly ok: true;
      readonly replicas: number;
      /** What the status shows: the amount, or each pod's share of it. */
      readonly shownMillis: number;
    }
  | { readonly ok: false; readonly reason: 'NoPods'; readonly message: string };

const MAX_REPLICAS = 2 ** 31 - 1;

/**
 * A target for the whole scales the Ready pods by the ratio of amount to target. A target per pod divides the amount
 * among as many pods as it takes. Both leave the size alone within the tolerance.
 */
export function recommendByAmount(question: AmountQuestion): AmountVerdict {
  const { amountMillis, currentReplicas, observedReplicas, pods, target, tolerance } = question;
  const within = (ratio: number): boolean => ratio <= 1 + tolerance.up && ratio >= 1 - tolerance.down;
  if ('perPodMillis' in target) {
    const ratio = amountMillis / (target.perPodMillis * observedReplicas);
    const replicas = within(ratio) ? observedReplicas : Math.ceil(amountMillis / target.perPodMillis);
    const shownMillis = Math.ceil(amountMillis / Math.max(observedReplicas, 1));
    return { ok: true, replicas: Math.min(replicas, MAX_REPLICAS), shownMillis };
  }
  const ratio = amountMillis / target.totalMillis;
  if (within(ratio)) return { ok: true, replicas: currentReplicas, shownMillis: amountMillis };
  if (pods.length === 0) {
    const message = 'unable to calculate ready pods: no pods returned by selector while calculating replica count';
    return { ok: false, reason: 'NoPods', message };
  }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  return { ok: true, replicas: Math.min(Math.ceil(ratio * ready), MAX_REPLICAS), shownMillis: amountMillis };
}
