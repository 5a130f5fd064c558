import { isLimitReason, type LimitReason, type LimitRefusal } from '../policies/index.ts';
import type { Unresolved } from './mode.ts';
import type { BudgetView, Refusal, RefusalReason } from './verdict.ts';

/** A refusal as the eviction subresource answers it. */
export interface RefusalAnswer {
  readonly code: 403 | 429 | 500;
  readonly reason: 'TooManyRequests' | 'Forbidden' | '';
  readonly message: string;
  /** The prescribed text of the `DisruptionBudget` cause; only for 429. */
  readonly cause?: string;
  readonly retryAfterSeconds?: number;
  /** What keeps the replacement from its place, or from being told. */
  readonly room?: {
    readonly reason: 'NoRoom' | 'CannotTell' | 'ReserveFailed' | 'Reserving';
    readonly message: string;
  };
  /** What DisruptionPolicies say. */
  readonly limits?: readonly LimitRefusal[];
}

type BudgetRefusalReason = Exclude<RefusalReason, LimitReason>;

export const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";

const RETRY_AFTER_SECONDS = 10;

/** Clients tell a budget's refusal by 429 and its cause; Retry-After is sent only where waiting alone helps. */
export function formatRefusal({ policies = [], reason, retryAfterSeconds, room, views }: Refusal): RefusalAnswer {
  const limits = policies.length === 0 ? {} : { limits: policies };
  if (isLimitReason(reason)) {
    return { code: 429, reason: 'TooManyRequests', message: policies[0]?.message ?? REFUSED, ...limits };
  }
  return { ...formatBudgetRefusal({ reason, retryAfterSeconds, room, views }), ...limits };
}

function formatBudgetRefusal({
  reason,
  retryAfterSeconds,
  room,
  views,
}: Pick<Refusal, 'retryAfterSeconds' | 'room' | 'views'> & { readonly reason: BudgetRefusalReason }): RefusalAnswer {
  const view = views[0] as BudgetView;
  const { name } = view.budget;
  switch (reason) {
    case 'MultipleBudgets':
      return {
        code: 500,
        reason: '',
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      };
    case 'BudgetNotObserved':
    case 'ModeNotObserved':
      return processing(name);
    case 'NegativeAllowance':
      return forbidden(name, 'pdb disruptions allowed is negative');
    case 'TooManyDisruptedPods':
      return forbidden(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
    case 'NotSettled':
      return {
        code: 429,
        reason: 'TooManyRequests',
        message: REFUSED,
        cause: `The disruption budget ${name} does not allow evicting pods currently (NotSettled): ${notSettled(view)}`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      };
    case 'NoRoom':
    case 'CannotTell':
      return {
        code: 429,
        reason: 'TooManyRequests',
        message: REFUSED,
        cause: `The disruption budget ${name} wants room for the whole replacement before a disruption`,
        room: { reason, message: room ?? reason },
        retryAfterSeconds: retryAfterSeconds ?? RETRY_AFTER_SECONDS,
      };
    case 'BuiltInCountTighter':
      return { code: 429, reason: 'TooManyRequests', message: REFUSED, cause: exhaustedText(inPods(view), reason) };
    case 'GroupUnresolved':
    case 'NodeNotDrainable':
    case 'BudgetExhausted':
      return { code: 429, reason: 'TooManyRequests', message: REFUSED, cause: exhaustedText(view, reason) };
  }
}

/** The answer where room is there and cannot be held, and the budget wants it held. */
export function reserveFailed(budget: string, message: string): RefusalAnswer {
  return {
    code: 429,
    reason: 'TooManyRequests',
    message: `${REFUSED} ${message}.`,
    cause: `The disruption budget ${budget} wants room held for the whole replacement before a disruption`,
    room: { reason: 'ReserveFailed', message },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

/** How soon placeholders are looked at again: the scheduler has put them where they belong by then. */
const RESERVING_SECONDS = 2;

/** The answer until every placeholder is where it holds room. */
export function reserving(budget: string, { bound, of }: { bound: number; of: number }): RefusalAnswer {
  const message = `Reserving: ${bound} of ${of} placeholders stand on their nodes`;
  return {
    ...reserveFailed(budget, message),
    room: { reason: 'Reserving', message },
    retryAfterSeconds: RESERVING_SECONDS,
  };
}

/** Also the answer when a pod changed between the judgement and its deletion. */
export function processing(budget: string): RefusalAnswer {
  return {
    code: 429,
    reason: 'TooManyRequests',
    message: REFUSED,
    cause: `The disruption budget ${budget} is still being processed by the server.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

function notSettled({ desired, live, mode }: BudgetView): string {
  const why = mode.settling === undefined ? 'not all groups can be resolved' : UNRESOLVED[mode.settling];
  return `${why}, so such groups count as down; it needs ${desired} healthy pod groups and is sure of ${live}`;
}

/** Why groups cannot be resolved, in words. */
export const UNRESOLVED: Readonly<Record<Unresolved, string>> = {
  WorkloadNotFound: 'a selected pod names a Workload that does not exist',
  PodGroupNotFound: 'a selected pod names a pod group that does not exist',
  IncompleteReference: 'a selected pod names its group only in part',
  CompositePodGroupNotFound: 'a group of a selected pod names a CompositePodGroup that does not exist',
  TooManyLevels: 'a group of a selected pod is in a tree of more than 4 levels, or in one without end',
  PartiallyLabelled: 'pods of one controller name a group only in part',
};

function forbidden(budget: string, why: string): RefusalAnswer {
  return {
    code: 403,
    reason: 'Forbidden',
    message: `poddisruptionbudget.policy "${budget}" is forbidden: ${why}`,
  };
}

/** The budget as the API server itself sees it. */
function inPods(view: BudgetView): BudgetView {
  const { budget, mode, published = budget.status } = view;
  return { ...view, allowed: 0, mode: { ...mode, unit: 'Pod' }, budget: { ...budget, status: published } };
}

/** First match wins: the sync failed, too few are healthy, the condition says why, or nothing more is known. */
function exhaustedText(view: BudgetView, reason: Refusal['reason']): string {
  const { budget, desired, live, mode } = view;
  const { status } = budget;
  const condition = status.disruptionAllowed;
  const start = `The disruption budget ${budget.name}`;
  const refused = condition?.status === 'False' && condition.message !== '' ? condition : undefined;
  if (refused?.reason === 'SyncFailed') {
    return `${start} does not allow evicting pods currently because it failed sync: ${refused.message}`;
  }
  if (reason === 'GroupUnresolved') return `${start} does not allow evicting pods currently (PodGroupResolutionFailed)`;
  if (reason === 'NodeNotDrainable') {
    return `${start} does not allow evicting pods currently (NodeNotDrainable): its pods on this node cannot all be evicted`;
  }
  if (mode.unit === 'PodGroup') {
    if (live <= desired) return `${start} needs ${desired} healthy pod groups and has ${live} currently`;
  } else if (status.currentHealthy <= status.desiredHealthy) {
    return `${start} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`;
  } else if (view.allowed > 0) {
    // The allowance was there; what is seen now says that it has been overtaken.
    return `${start} needs ${desired} healthy pods and has ${live} currently`;
  }
  if (refused !== undefined)
    return `${start} does not allow evicting pods currently (${refused.reason}): ${refused.message}`;
  return `${start} does not allow evicting pods currently`;
}
