import type { DisruptionIndex } from './disruption-index.ts';
import { exemptionOf } from './pod-facts.ts';
import { decideTogether, type PodName } from './together.ts';
import { decideEviction, type EvictionVerdict } from './verdict.ts';

export interface JudgeOptions {
  /** Whether a node is cordoned; only asked for budgets that look ahead. */
  readonly isCordoned: (nodeName: string) => boolean;
  /** A grant that a ledger has for this very pod is left out. */
  readonly again?: boolean;
}

/**
 * The decision every caller asks for: may this pod be evicted now. A budget with the drain look-ahead refuses the
 * first pod of a cordoned node already when its pods there could not all go. Undefined when there is no such pod.
 */
export function judgeEviction(
  index: DisruptionIndex,
  { name, namespace }: PodName,
  now: number,
  { again, isCordoned }: JudgeOptions,
): EvictionVerdict | undefined {
  const question = index.ask(namespace, name, now, { again });
  if (question === undefined) return undefined;
  const verdict = decideEviction(question);
  const { pod, views } = question;
  const view = views[0];
  if (!verdict.allowed || view === undefined || !view.budget.lookahead) return verdict;
  if (exemptionOf(pod) !== undefined || pod.nodeName === '' || !isCordoned(pod.nodeName)) return verdict;
  const onNode = index
    .podsOf(namespace, view.budget.name)
    .filter((other) => other.nodeName === pod.nodeName && exemptionOf(other) === undefined);
  return decideTogether(index, onNode, now).allowed ? verdict : { allowed: false, reason: 'NodeNotDrainable', views };
}
