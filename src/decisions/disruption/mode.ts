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

/** Why groups that were meant to count cannot all be resolved. */
export type Unresolved = BrokenReason | 'PartiallyLabelled';

export type ModeReason =
  | 'GroupUnits'
  | 'Settling'
  | 'PodGroupResolutionFailed'
  | Unresolved
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
  /** Groups are still counted although not all can be resolved; what cannot be proven is refused meanwhile. */
  readonly settling: Unresolved | undefined;
  /** Selected pods that belong to no group while groups count. */
  readonly individual: number;
}

const BROKEN_ORDER: readonly BrokenReason[] = [
  'WorkloadNotFound',
  'PodGroupNotFound',
  'IncompleteReference',
  'CompositePodGroupNotFound',
  'TooManyLevels',
];

/**
 * Decides what a budget counts. Rules, first match wins:
 *  1. the budget's own annotation decides: pods, or groups come what may
 *  2. no pod is selected: what was counted before
 *  3. no selected pod names a group: pods
 *  4. some pod's group cannot be resolved, or a controller's pods name their group only in part: pods for the whole
 *     budget, as units must not mix in one number. A budget that has counted groups goes on counting them (`settling`)
 *     until its controller writes that pods count: groups that restart are unresolved for a moment, and in that moment
 *     their pods must not pass for healthy ones
 *  5. no group has a quorum: pods
 *  6. otherwise groups; pods that stand for themselves are left out of every count
 *
 * What was counted before is read from the budget's published condition, so that every caller decides alike and a
 * restart forgets nothing. Only the controller, which keeps the time, asks with `settled`.
 */
export function decideMode(
  { groupBy, scope, status }: Pick<BudgetFacts, 'groupBy' | 'scope' | 'status'>,
  classes: PodClasses,
  { settled = false }: { readonly settled?: boolean } = {},
): Mode {
  const { bare, basic, broken, grouped } = classes;
  const inPods = (reason: ModeReason, fallback: boolean): Mode => {
    return { unit: 'Pod', reason, fallback, settling: undefined, individual: 0 };
  };
  const inGroups = (reason: ModeReason, settling?: Unresolved): Mode => {
    return { unit: 'PodGroup', reason, fallback: false, settling, individual: bare + basic };
  };
  if (scope === 'Pod') return inPods('PodScope', false);
  if (groupBy === 'unknown') return inPods('UnknownGroupBy', true);
  const brokenReason = BROKEN_ORDER.find((reason) => (broken.get(reason) ?? 0) > 0);
  if (scope === 'PodGroup') return inGroups(brokenReason === undefined ? 'GroupUnits' : 'PodGroupResolutionFailed');
  const countedGroups = status.podGroupBudget?.status === 'True';
  if (grouped === 0 && basic === 0 && brokenReason === undefined) {
    return countedGroups && bare === 0 ? inGroups('GroupUnits') : inPods('NoGroupedPods', false);
  }
  const unresolved = brokenReason ?? (grouped > 0 && classes.partlyLinked ? 'PartiallyLabelled' : undefined);
  if (unresolved !== undefined) {
    return countedGroups && !settled ? inGroups('Settling', unresolved) : inPods(unresolved, true);
  }
  return grouped === 0 ? inPods('NoGangPolicy', false) : inGroups('GroupUnits');
}
