/** Kubernetes' own count of the pods of budgets over groups, as on clusters in mode alongside: an eviction needs both. */
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { type EvictionGuard, refusalError } from '../../apiserver/index.ts';
import {
  type BudgetStatus,
  type BudgetView,
  computeAllowed,
  decideEviction,
  type DisruptionIndex,
  formatRefusal,
  isMarked,
  readBudgetStatus,
  withCauses,
} from '../../decisions/disruption/index.ts';
import type { Snapshot } from '../snapshot/index.ts';

/**
 * What Kubernetes counted when the snapshot was taken says how many pods it wants healthy; how many are is counted as the
 * simulation goes on.
 */
export class SecondCount {
  /** By `namespace/name`: what was published by somebody who counts pods. */
  readonly #published = new Map<string, BudgetStatus>();

  constructor({ objects }: Snapshot) {
    for (const object of objects) {
      if (object.kind !== 'PodDisruptionBudget') continue;
      const budget = object as PodDisruptionBudget;
      const status = readBudgetStatus(budget.status);
      const isCounted = budget.status?.observedGeneration !== undefined;
      const isOurs = isMarked(budget) || status.podGroupBudget?.status === 'True';
      if (isCounted && !isOurs) this.#published.set(`${budget.metadata.namespace}/${budget.metadata.name}`, status);
    }
  }

  /** The budgets that are counted in groups and in pods. */
  budgets(index: DisruptionIndex, now: number): string[] {
    return [...this.#published.keys()].filter((id) => {
      const [namespace = '', name = ''] = id.split('/');
      return index.count(namespace, name, now)?.mode.unit === 'PodGroup';
    });
  }

  guard(index: DisruptionIndex): EvictionGuard {
    return {
      name: 'second-count',
      judge: ({ name, namespace, now }) => {
        const question = index.ask(namespace, name, now);
        const view = question?.views[0];
        const published = view && this.#publishedNow(index, view, { namespace, now });
        if (question === undefined || view === undefined || published === undefined) return { allowed: true };
        const verdict = decideEviction({ ...question, views: [{ ...view, published }] });
        if (verdict.allowed || verdict.reason !== 'BuiltInCountTighter') return { allowed: true };
        return { allowed: false, refusal: refusalError(withCauses(formatRefusal(verdict))) };
      },
    };
  }

  #publishedNow(
    index: DisruptionIndex,
    { budget }: BudgetView,
    { namespace, now }: { namespace: string; now: number },
  ): BudgetStatus | undefined {
    const published = this.#published.get(`${namespace}/${budget.name}`);
    // Undefined where pods count: then there is one count only.
    const numbers = published && index.publication(namespace, budget.name, now, undefined);
    if (published === undefined || numbers === undefined) return undefined;
    const { currentHealthy } = numbers;
    const { desiredHealthy, disruptionAllowed, expectedPods } = published;
    const isFailed = disruptionAllowed?.reason === 'SyncFailed';
    return {
      ...published,
      observedGeneration: budget.generation,
      currentHealthy,
      disruptionsAllowed: isFailed ? 0 : computeAllowed(currentHealthy, desiredHealthy, expectedPods),
    };
  }
}
