import { LIMIT_REASONS, type LimitRefusal } from '../policies/index.ts';
import type { BudgetFacts, BudgetStatus } from './budget-facts.ts';
import type { Mode } from './mode.ts';
import { exemptionOf, type CountedPod } from './pod-facts.ts';
import type { PromisedPlace, RoomAsk } from './room.ts';

/** More unconfirmed evictions than this mean that the disruption controller is not keeping up. */
export const MAX_DISRUPTED_PODS = 2000;

/** One budget that selects the pod, with the counts of this moment. */
export interface BudgetView {
  readonly budget: BudgetFacts;
  readonly mode: Mode;
  /** Healthy pods or available groups, now. */
  readonly live: number;
  /** How many the budget wants healthy: from its spec when groups count, as last published when pods do. */
  readonly desired: number;
  /** What the published allowance still is. */
  readonly allowed: number;
  /** The pod counts as healthy: Ready, not going, not approved for eviction a moment ago. */
  readonly counted: boolean;
  /** The pod's group when groups count; undefined for a pod that stands for itself. */
  readonly unit: UnitView | undefined;
  /** The pod names a group that cannot be resolved, and the budget insists on groups. */
  readonly unresolved: boolean;
  /** What the API server goes by when groups have been judged; undefined where it goes by the same numbers. */
  readonly published?: BudgetStatus | undefined;
}

export interface UnitView {
  readonly key: string;
  readonly healthy: number;
  readonly minCount: number;
  /**
   * Members that are recorded as going together with the pod, because their unit goes as one and would otherwise pass for
   * available again as soon as this pod is gone.
   */
  readonly others?: readonly { readonly name: string; readonly uid: string }[];
}

export interface EvictionQuestion {
  readonly pod: CountedPod;
  readonly views: readonly BudgetView[];
}

/** Why a pod may go, and the words for it. */
export const GRANT_REASONS = {
  PodFinished: 'it has finished',
  PodPending: 'it has not started',
  PodTerminating: 'it is already going',
  NoBudget: 'no budget selects it',
  UnhealthyAlwaysAllowed: 'what it belongs to is not healthy and the budget lets such pods go',
  UnhealthyWithinBudget: 'it is not Ready and the budget is met without it',
  WithinBudget: 'the budget has room',
  GroupHasSpare: 'its group stays whole without it',
  GroupAlreadyDown: 'its group is already down and the budget is met',
  PodNotCounted: 'it belongs to no group and the budget is met',
} as const;

/** Why a pod may not go, and the words for it. How clients are answered: `kubernetes-texts.ts`; what helps: `remedy.ts`. */
export const REFUSAL_REASONS = {
  MultipleBudgets: 'more than one budget selects it',
  BudgetNotObserved: 'the disruption controller has not seen the latest spec of the budget',
  ModeNotObserved: 'the disruption controller has not yet counted the budget in the right unit',
  NegativeAllowance: 'the status of the budget is damaged',
  TooManyDisruptedPods: 'too many evictions are unconfirmed',
  GroupUnresolved: 'the group it names cannot be resolved',
  NotSettled: 'a group of its budget cannot be resolved just now and counts as down until it can',
  NodeNotDrainable: 'the pods of its budget on its node could not all go, and the budget asks for that',
  BudgetExhausted: 'the budget has no room',
  NoRoom: 'its budget wants room for the whole replacement first, and there is none',
  CannotTell: 'its budget wants room for the whole replacement first, and whether there is any cannot be told',
  BuiltInCountTighter: "Kubernetes' own count of its pods has no room, although its groups have",
  ...LIMIT_REASONS,
} as const;

export type GrantReason = keyof typeof GRANT_REASONS;
export type RefusalReason = keyof typeof REFUSAL_REASONS;

/** Tells the reasons of refusals from those of grants. */
export function isRefusalReason(reason: GrantReason | RefusalReason): reason is RefusalReason {
  return reason in REFUSAL_REASONS;
}

export interface Grant {
  readonly allowed: true;
  readonly reason: GrantReason;
  /** The budget to write to: its allowance falls by `cost` and the pod is recorded as approved. */
  readonly charge: { readonly view: BudgetView; readonly cost: 0 | 1 } | undefined;
  /** Delete only the very state of the pod that was judged. */
  readonly pinned: boolean;
  /** Where all of the unit finds places, for budgets that ask. */
  readonly room?: Promised | undefined;
  /** Policies that count it as a disruption of this group. */
  readonly limits?: LimitCharge | undefined;
}

/** The policies in whose ledgers a disruption is entered before it is granted. */
export interface LimitCharge {
  readonly group: string;
  readonly wholeSince: number | undefined;
  readonly policies: readonly string[];
}

/** Who is recorded as going together with the pod: the rest of a unit that goes as one, where its going costs something. */
export function followers({ cost, view }: NonNullable<Grant['charge']>): NonNullable<UnitView['others']> {
  return cost === 1 ? (view.unit?.others ?? []) : [];
}

export interface Refusal {
  readonly allowed: false;
  readonly reason: RefusalReason;
  readonly views: readonly BudgetView[];
  /** Why there is no room, or why that cannot be told. */
  readonly room?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** What DisruptionPolicies say; where budgets agree the first is the reason. */
  readonly policies?: readonly LimitRefusal[] | undefined;
}

/** Room that was found, to be kept by whoever carries the grant out. */
export interface Promised {
  readonly ask: RoomAsk;
  readonly where: readonly PromisedPlace[];
}

export type EvictionVerdict = Grant | Refusal;

/**
 * Decides whether a pod may be evicted now. Rules, first match wins:
 *  1. finished, pending or terminating pods are no budget's business
 *  2. several budgets select the pod: refuse, whatever each of them says
 *  3. no budget selects it: grant
 *  4. the one budget decides, in groups or in pods
 */
export function decideEviction({ pod, views }: EvictionQuestion): EvictionVerdict {
  const exemption = exemptionOf(pod);
  if (exemption !== undefined) {
    return { allowed: true, reason: exemption, charge: undefined, pinned: exemption === 'PodPending' };
  }
  if (views.length > 1) return { allowed: false, reason: 'MultipleBudgets', views };
  const view = views[0];
  if (view === undefined) return { allowed: true, reason: 'NoBudget', charge: undefined, pinned: false };
  if (!pod.ready && view.budget.alwaysAllow) return free('UnhealthyAlwaysAllowed');
  if ((view.budget.status.podGroupBudget?.status === 'True') !== (view.mode.unit === 'PodGroup')) {
    return refuse(view, 'ModeNotObserved');
  }
  if (view.mode.unit === 'Pod') return decideInPods(pod, view);
  const verdict = decideInGroups(pod, view);
  const builtIn = verdict.allowed ? checkPublished(pod, view) : undefined;
  return builtIn === undefined ? verdict : refuse(view, builtIn);
}

/** Beside our count of groups the API server makes its own check, by the numbers of pods that are published. */
function checkPublished(pod: CountedPod, view: BudgetView): RefusalReason | undefined {
  const { budget, published } = view;
  if (published === undefined) return undefined;
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = published;
  if (!pod.ready && currentHealthy >= desiredHealthy && desiredHealthy > 0) return undefined;
  const limit = checkLimits({ allowed: disruptionsAllowed, budget: { ...budget, status: published } });
  return limit ?? (disruptionsAllowed === 0 ? 'BuiltInCountTighter' : undefined);
}

/**
 * Pods count. An unready pod holds nothing up: it goes while the budget is met and asks for something. Everything
 * else takes one from the published allowance, and only while the budget is also met by what is seen now: the
 * published numbers may not know yet of a pod that has just become unready.
 */
function decideInPods(pod: CountedPod, view: BudgetView): EvictionVerdict {
  const { currentHealthy, desiredHealthy } = view.budget.status;
  if (!pod.ready && currentHealthy >= desiredHealthy && desiredHealthy > 0) return free('UnhealthyWithinBudget');
  const limit = checkLimits(view);
  if (limit !== undefined) return refuse(view, limit);
  const loss = view.counted ? 1 : 0;
  if (view.allowed === 0 || view.live - loss < view.desired) return refuse(view, 'BudgetExhausted');
  return { allowed: true, reason: 'WithinBudget', charge: { view, cost: 1 }, pinned: false };
}

/**
 * Groups count. Only the eviction that takes an available group below its minimum costs anything; the others (a spare
 * pod, a pod of a group that is down, a pod that stands for itself) still need the budget to hold now, and are
 * recorded so that concurrent decisions see each other. While groups settle, those that cannot be resolved count as down.
 */
function decideInGroups(pod: CountedPod, view: BudgetView): EvictionVerdict {
  const { unit } = view;
  const pinned = !pod.ready;
  const up = unit !== undefined && unit.healthy >= unit.minCount;
  if (view.budget.alwaysAllow && unit !== undefined && !up) return free('UnhealthyAlwaysAllowed');
  const limit = checkLimits(view);
  if (limit !== undefined) return refuse(view, limit);
  const settling = view.mode.settling !== undefined;
  if (view.unresolved) return refuse(view, settling ? 'NotSettled' : 'GroupUnresolved');
  const cost = up && view.counted && unit.healthy - 1 < unit.minCount ? 1 : 0;
  if (view.live - cost < view.desired || (cost === 1 && view.allowed < 1)) {
    return refuse(view, settling ? 'NotSettled' : 'BudgetExhausted');
  }
  const reason =
    cost === 1 ? 'WithinBudget' : unit === undefined ? 'PodNotCounted' : up ? 'GroupHasSpare' : 'GroupAlreadyDown';
  return { allowed: true, reason, charge: { view, cost }, pinned };
}

/** What makes the published numbers unusable, in order. */
function checkLimits({ allowed, budget }: Pick<BudgetView, 'allowed' | 'budget'>): RefusalReason | undefined {
  if (budget.status.observedGeneration < budget.generation) return 'BudgetNotObserved';
  if (allowed < 0) return 'NegativeAllowance';
  return budget.status.disruptedPods.size > MAX_DISRUPTED_PODS ? 'TooManyDisruptedPods' : undefined;
}

const free = (reason: GrantReason): Grant => ({ allowed: true, reason, charge: undefined, pinned: true });

const refuse = (view: BudgetView, reason: RefusalReason): Refusal => ({ allowed: false, reason, views: [view] });
