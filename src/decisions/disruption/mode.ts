import type { BudgetFacts } from './budget-facts.ts';
import type { BrokenReason } from './resolve.ts';

/** What the pods a budget selects are, counted by class. */
export interface PodClasses {
  /** In a gang that resolves. */
  readonly grouped: number;
  /** In a group without a quorum. */
  readonly basic: number;
  /** Without any reference to a group. */
  readonly bare: number;
  readonly broken: ReadonlyMap<BrokenReason, number>;
  /** A controller has both grouped pods and pods without a reference. */
  readonly partlyLinked: boolean;
}

export type ModeReason =
  | 'GroupUnits'
  | 'PodGroupResolutionFailed'
  | BrokenReason
  | 'PartiallyLabelled'
  | 'NoGangPolicy'
  | 'NoGroupedPods'
  | 'PodScope'
  | 'UnknownGroupBy';

/** What one unit of a budget's numbers is, and why. */
export interface Mode {
  readonly unit: 'Pod' | 'PodGroup';
  readonly reason: ModeReason;
  /** Groups were meant to count but cannot. */
  readonly fallback: boolean;
  /** Selected pods that belong to no group while groups count. */
  readonly individual: number;
}

const BROKEN_ORDER: readonly BrokenReason[] = ['WorkloadNotFound', 'PodGroupNotFound', 'IncompleteReference'];

/**
 * Decides what a budget counts. Rules, first match wins:
 *  1. the budget's own annotation decides: pods, or groups come what may
 *  2. no selected pod names a group: pods
 *  3. some pod's group cannot be resolved: pods for the whole budget, as units must not mix in one number
 *  4. no group has a quorum: pods
 *  5. a controller's pods name their group only in part: pods for the whole budget
 *  6. otherwise groups; pods that stand for themselves are left out of every count
 */
export function decideMode({ groupBy, scope }: Pick<BudgetFacts, 'groupBy' | 'scope'>, classes: PodClasses): Mode {
  const inPods = (reason: ModeReason, fallback: boolean): Mode => ({ unit: 'Pod', reason, fallback, individual: 0 });
  const { bare, basic, broken, grouped } = classes;
  if (scope === 'Pod') return inPods('PodScope', false);
  if (groupBy === 'unknown') return inPods('UnknownGroupBy', true);
  const brokenReason = BROKEN_ORDER.find((reason) => (broken.get(reason) ?? 0) > 0);
  if (scope === 'PodGroup') {
    const reason = brokenReason === undefined ? 'GroupUnits' : 'PodGroupResolutionFailed';
    return { unit: 'PodGroup', reason, fallback: false, individual: bare + basic };
  }
  if (grouped === 0 && basic === 0 && brokenReason === undefined) return inPods('NoGroupedPods', false);
  if (brokenReason !== undefined) return inPods(brokenReason, true);
  if (grouped === 0) return inPods('NoGangPolicy', false);
  if (classes.partlyLinked) return inPods('PartiallyLabelled', true);
  return { unit: 'PodGroup', reason: 'GroupUnits', fallback: false, individual: bare + basic };
}
