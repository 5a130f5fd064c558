import type { DisruptionIndex } from './disruption-index.ts';
import { LimitAccount } from './limits.ts';
import { type CountedPod, exemptionOf, isUp } from './pod-facts.ts';
import { type BudgetView, decideEviction, type EvictionQuestion, type EvictionVerdict, type Grant } from './verdict.ts';

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export interface Step {
  readonly pod: PodName;
  readonly verdict: EvictionVerdict;
  /** The name of the group the pod belongs to under its budget. */
  readonly unit: string | undefined;
  readonly budget: string | undefined;
  /** What further budgets over the same pod grant, where each of several is asked. */
  readonly also?: readonly Grant[] | undefined;
}

export interface TogetherOptions {
  /** Of several budgets over one pod each is asked, instead of refusing for that there are several. */
  readonly everyBudget?: boolean;
}

/** Whether pods may go together, in the order in which they should. */
export interface JointVerdict {
  readonly allowed: boolean;
  readonly steps: readonly Step[];
}

/**
 * Decides whether these pods may all be evicted without waiting for any replacement, and in which order: first what
 * no budget counts, then groups that are down anyway, then the groups with the most pods to go, each group in one
 * piece so that no more groups are broken at any moment than must be, and last the members that no budget selects: nothing
 * holds them back, and their group counts as smaller once they are gone.
 */
export function decideTogether(
  index: DisruptionIndex,
  pods: readonly PodName[],
  now: number,
  options: TogetherOptions = {},
): JointVerdict {
  return openAccount(index, now, options)(pods);
}

/** Judges one set of pods after another, each as if those granted before were gone. */
export function openAccount(
  index: DisruptionIndex,
  now: number,
  { everyBudget = false }: TogetherOptions = {},
): (pods: readonly PodName[]) => JointVerdict {
  const taken = new Taken();
  const limits = new LimitAccount(index, now);
  return (pods) => judge(index, pods, { now, taken, limits, everyBudget });
}

function judge(
  index: DisruptionIndex,
  pods: readonly PodName[],
  { everyBudget, limits, now, taken }: { now: number; taken: Taken; limits: LimitAccount; everyBudget: boolean },
): JointVerdict {
  const asked = pods
    .map(({ namespace, name }) => askAll(index, { namespace, name }, now))
    .filter((question) => question !== undefined);
  const names = new Map<string, string | undefined>();
  const nameOf = (pod: PodName, view: BudgetView): string | undefined => {
    const key = unitKey(view);
    if (!names.has(key)) names.set(key, index.unitName(pod.namespace, pod.name, view.budget.name));
    return names.get(key);
  };
  const steps = inOrder(asked).map((question) => {
    const { beside, pod } = question;
    const views = question.views.map((view) => taken.apply(view));
    const said =
      everyBudget && views.length > 1 ? decideEach(pod, views) : [{ verdict: decideEviction({ pod, views }) }];
    const [decided = said[0]] = said.filter((one) => !one.verdict.allowed);
    const verdict = limits.judge(pod, decided?.verdict ?? decideEviction({ pod, views }));
    if (verdict.allowed && exemptionOf(pod) === undefined) {
      for (const { verdict: grant, view = views[0] } of said) if (view && grant.allowed) taken.record(view, grant);
    }
    if (verdict.allowed) for (const view of beside) taken.lose(taken.apply(view));
    const view = decided?.view ?? views[0];
    const also = said.slice(1).flatMap((one) => (one.verdict.allowed ? [one.verdict] : []));
    return {
      pod: { namespace: pod.namespace, name: pod.name },
      verdict,
      unit: view?.unit && nameOf(pod, view),
      budget: view?.budget.name,
      ...(also.length > 0 && verdict.allowed && { also }),
    };
  });
  return { allowed: steps.every(({ verdict }) => verdict.allowed), steps };
}

interface SaidByBudget {
  readonly view?: BudgetView;
  readonly verdict: EvictionVerdict;
}

/** What each of several budgets says to a pod; one that has recorded it already has nothing more to say. */
function decideEach(pod: CountedPod, views: readonly BudgetView[]): readonly SaidByBudget[] {
  const open = isUp(pod) ? views.filter(({ counted }) => counted) : views;
  return (open.length === 0 ? views.slice(0, 1) : open).map((view) => ({
    view,
    verdict: decideEviction({ pod, views: [view] }),
  }));
}

interface JointQuestion extends EvictionQuestion {
  /** What budgets see that count the pod's group and do not select the pod. */
  readonly beside: readonly BudgetView[];
}

function askAll(index: DisruptionIndex, { name, namespace }: PodName, now: number): JointQuestion | undefined {
  const question = index.ask(namespace, name, now);
  return question && { ...question, beside: index.viewsBeside(namespace, name, now) };
}

/** What the evictions judged so far would have changed. */
class Taken {
  readonly #budgets = new Map<string, { live: number; allowed: number; published: number }>();
  readonly #units = new Map<string, number>();

  apply(view: BudgetView): BudgetView {
    const change = this.#budgets.get(budgetKey(view));
    if (change === undefined) return view;
    const lost = view.unit === undefined ? 0 : (this.#units.get(unitKey(view)) ?? 0);
    return {
      ...view,
      live: view.live - change.live,
      allowed: view.allowed - change.allowed,
      published: view.published && {
        ...view.published,
        disruptionsAllowed: Math.max(0, view.published.disruptionsAllowed - change.published),
      },
      unit: view.unit && { ...view.unit, healthy: view.unit.healthy - lost },
    };
  }

  record(view: BudgetView, verdict: Extract<EvictionVerdict, { allowed: true }>): void {
    const change = this.#changeOf(view);
    change.allowed += verdict.charge?.cost ?? 0;
    // The API server takes one off with every pod that is Ready.
    if (view.counted) change.published += 1;
    if (!view.counted) return;
    const { unit } = view;
    if (unit === undefined) {
      if (view.mode.unit === 'Pod') change.live += 1;
      return;
    }
    if (this.#takesDown(view, unit)) change.live += 1;
  }

  /** A member goes that the budget does not select: nobody asks it, and it counts the group as it is then. */
  lose(view: BudgetView): void {
    if (!view.counted || view.unit === undefined) return;
    const change = this.#changeOf(view);
    if (!this.#takesDown(view, view.unit)) return;
    change.live += 1;
    change.allowed += 1;
  }

  #takesDown(
    view: BudgetView,
    { healthy, minCount }: { readonly healthy: number; readonly minCount: number },
  ): boolean {
    this.#units.set(unitKey(view), (this.#units.get(unitKey(view)) ?? 0) + 1);
    return healthy >= minCount && healthy - 1 < minCount;
  }

  #changeOf(view: BudgetView): { live: number; allowed: number; published: number } {
    const key = budgetKey(view);
    const known = this.#budgets.get(key) ?? { live: 0, allowed: 0, published: 0 };
    this.#budgets.set(key, known);
    return known;
  }
}

const budgetKey = ({ budget }: BudgetView): string => `${budget.namespace}/${budget.name}`;
const unitKey = (view: BudgetView): string => `${budgetKey(view)}\n${view.unit?.key ?? ''}`;

function inOrder(questions: readonly JointQuestion[]): JointQuestion[] {
  const size = new Map<string, number>();
  for (const { views } of questions) {
    for (const view of views) size.set(unitKey(view), (size.get(unitKey(view)) ?? 0) + 1);
  }
  const rank = ({ beside, pod, views }: JointQuestion): number => {
    const unit = views[0]?.unit;
    if (exemptionOf(pod) !== undefined) return 0;
    if (views.length === 0) return beside.some(({ counted }) => counted) ? 4 : 0;
    if (unit === undefined) return 3;
    return unit.healthy < unit.minCount ? 1 : 2;
  };
  const group = ({ views }: JointQuestion): string => (views[0] === undefined ? '' : unitKey(views[0]));
  return [...questions].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      (size.get(group(b)) ?? 0) - (size.get(group(a)) ?? 0) ||
      compare(group(a), group(b)) ||
      compare(a.pod.name, b.pod.name),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
