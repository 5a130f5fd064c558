import { wasEvicted } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import { formatKey, keyOf } from '../../../api/resource.ts';
import { type BudgetFacts, type DisruptionIndex, readBudget, readPod } from '../../../decisions/disruption/index.ts';
import {
  type Clock,
  type EventRecorder,
  type Debounce,
  type Informer,
  type Wake,
  type Watch,
  wake,
  watch,
} from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';
import type { BudgetBook } from './book.ts';
import { multipleBudgets, publish } from './events.ts';
import { staleTargetDelayMs } from './stale-target.ts';

interface BudgetWatch {
  readonly index: DisruptionIndex;
  readonly book: BudgetBook;
  readonly debounce: Debounce;
}

export function watchBudgets({ book, debounce, index }: BudgetWatch): Watch {
  const seen = (budget: PodDisruptionBudget): Wake => {
    const { name = '', namespace = '' } = budget.metadata;
    const known = index.budget(namespace, name);
    const facts = readBudget(budget, known);
    index.setBudget(facts);
    const key = keyOf(budget);
    return { key, afterMs: known !== undefined && asksTheSame(known, facts) ? debounce.delayMs(key) : 0 };
  };
  const gone = (budget: PodDisruptionBudget): Wake => {
    const { name = '', namespace = '' } = budget.metadata;
    index.deleteBudget(namespace, name);
    debounce.forget(keyOf(budget));
    return keyOf(budget);
  };
  return {
    whenSynced: () => book.whenSynced(),
    feed(queue) {
      book.follow({ seen: (budget) => wake(queue, seen(budget)), gone: (budget) => wake(queue, gone(budget)) });
      return undefined;
    },
  };
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
  readonly events: EventRecorder;
  readonly debounce: Debounce;
}

/**
 * A pod event wakes one budget that selects the pod's current labels, and every budget that counts a group the pod is
 * a member of, selected or not. Rescaling a workload wakes nothing: the pods that follow do.
 */
export function watchPods({ events, debounce, index, pods }: PodWatch): Watch {
  const concerned = (pod: Pod, isEffect: boolean): Wake[] => {
    const { name = '', namespace = '' } = pod.metadata;
    const { grouping, selecting } = index.concernedBy(namespace, name);
    const [first] = selecting;
    if (first !== undefined && selecting.length > 1) publish(events, pod, multipleBudgets(pod, first));
    return (first === undefined ? grouping : [first, ...grouping]).map((budget) => {
      const key = formatKey({ namespace, name: budget });
      return { key, afterMs: isEffect ? debounce.delayMs(key) : 0 };
    });
  };
  const see = (pod: Pod): Wake[] => {
    index.setPod(readPod(pod));
    return concerned(pod, pod.metadata.deletionTimestamp !== undefined && wasEvicted(pod));
  };
  return watch(pods, {
    added: see,
    updated: see,
    deleted(pod) {
      const { name = '', namespace = '' } = pod.metadata;
      const wakes = concerned(pod, wasEvicted(pod));
      index.deletePod(namespace, name);
      return wakes;
    },
  });
}

/** Pods whose announced disruption does not come, once it is overdue. */
export function watchStaleTargets({ clock, pods }: { readonly clock: Clock; readonly pods: Informer<Pod> }): Watch[] {
  const overdue = (pod: Pod): Wake | undefined => {
    const afterMs = staleTargetDelayMs(pod, clock.now());
    return afterMs === undefined ? undefined : { key: keyOf(pod), afterMs };
  };
  return [watch(pods, { added: overdue, updated: overdue })];
}
