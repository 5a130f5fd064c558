import { wasEvicted } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { formatKey, keyOf } from '../../api/resource.ts';
import { type BudgetFacts, type DisruptionIndex, readBudget, readPod } from '../../decisions/disruption/index.ts';
import type { Clock, EventRecorder, Gathering, Informer, WorkQueue } from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { BudgetBook } from './book.ts';
import { multipleBudgets, publish } from './events.ts';
import { staleTargetDelayMs } from './stale-target.ts';

interface BudgetWatch {
  readonly index: DisruptionIndex;
  readonly book: BudgetBook;
  readonly queue: WorkQueue;
  readonly gathering: Gathering;
}

export function watchBudgets({ book, gathering, index, queue }: BudgetWatch): void {
  book.follow({
    seen(budget) {
      const { name = '', namespace = '' } = budget.metadata;
      const known = index.budget(namespace, name);
      const facts = readBudget(budget, known);
      index.setBudget(facts);
      const key = keyOf(budget);
      queue.addAfter(key, known !== undefined && asksTheSame(known, facts) ? gathering.delayMs(key) : 0);
    },
    gone(budget) {
      const { name = '', namespace = '' } = budget.metadata;
      index.deleteBudget(namespace, name);
      gathering.forget(keyOf(budget));
      queue.add(keyOf(budget));
    },
  });
}

/** Only the numbers changed: by an approval, or by this controller itself. */
function asksTheSame(a: BudgetFacts, b: BudgetFacts): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.scope === b.scope &&
    a.lookahead === b.lookahead &&
    deepEqual(a.groupBy, b.groupBy)
  );
}

interface PodWatch {
  readonly index: DisruptionIndex;
  readonly pods: Informer<Pod>;
  readonly queue: WorkQueue;
  readonly stale: WorkQueue;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly gathering: Gathering;
}

/**
 * A pod event wakes one budget that selects the pod's current labels, and every budget that counts a group the pod is
 * a member of, selected or not. Rescaling a workload wakes nothing: the pods that follow do.
 */
export function watchPods({ clock, events, gathering, index, pods, queue, stale }: PodWatch): void {
  const wake = (pod: Pod, isEffect: boolean): void => {
    const { name = '', namespace = '' } = pod.metadata;
    const { grouping, selecting } = index.concernedBy(namespace, name);
    const [first] = selecting;
    if (first !== undefined && selecting.length > 1) publish(events, pod, multipleBudgets(pod, first));
    for (const budget of first === undefined ? grouping : [first, ...grouping]) {
      const key = formatKey({ namespace, name: budget });
      queue.addAfter(key, isEffect ? gathering.delayMs(key) : 0);
    }
  };
  const see = (pod: Pod): void => {
    index.setPod(readPod(pod));
    wake(pod, pod.metadata.deletionTimestamp !== undefined && wasEvicted(pod));
    const delayMs = staleTargetDelayMs(pod, clock.now());
    if (delayMs !== undefined) stale.addAfter(keyOf(pod), delayMs);
  };
  pods.addHandler({
    added: see,
    updated: see,
    deleted(pod) {
      const { name = '', namespace = '' } = pod.metadata;
      wake(pod, wasEvicted(pod));
      index.deletePod(namespace, name);
    },
  });
}
