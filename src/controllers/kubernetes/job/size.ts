import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { isPodTerminating } from '../../../api/core/pod-state.ts';
import { compareCost, costedUnit, DISRUPTION_COST } from '../../../decisions/group-cost/index.ts';
import { type FailureRecord, remainingMs } from './back-off.ts';
import { isSuspended } from './finish.ts';
import { firstFree, intervalsOf, mergeIntervals } from './intervals.ts';
import {
  byWorth,
  completionIndex,
  finishedAt,
  indexFailures,
  indexIgnoredFailures,
  isIndexed,
  replacesOnlyFailed,
} from './pod-facts.ts';
import { completionsOf, hasLimitPerIndex, type JobView } from './view.ts';

export type SizeVerdict =
  | { readonly reason: 'Suspended' | 'TooManyPods' | 'IndexNotWanted'; readonly remove: readonly Pod[] }
  /** One entry per pod to create: its index, or undefined without indexes. */
  | { readonly reason: 'TooFewPods'; readonly create: readonly (number | undefined)[] }
  | { readonly reason: 'BackingOff' | 'GroupGoing'; readonly waitMs: number }
  | { readonly reason: 'RightSize' };

/** Most pods created or deleted in one pass. */
const MAX_PER_PASS = 500;

/**
 * How many pods the Job should have now, and what to do about it:
 *  1. a suspended Job has none
 *  2. otherwise as many as parallelism says, but no more than there are completions left; without completions none are
 *     added once one succeeded
 *  3. pods whose index is doubled or unknown go first
 *  4. new pods wait for the back-off after failures, and for terminating pods if only ended ones are replaced
 */
export function decideSize(view: JobView, failures: FailureRecord): SizeVerdict {
  const { active, job, now } = view;
  if (isSuspended(job)) {
    return active.length === 0 ? { reason: 'RightSize' } : { reason: 'Suspended', remove: active };
  }
  const wanted = wantedActive(view);
  const { keep, surplus } = splitByIndex(job, active);
  const atLeast = Math.max(active.length - wanted, 0);
  const extra = keep
    .toSorted((a, b) => byCost(a, b, now) || byWorth(a, b))
    .slice(0, Math.max(atLeast - surplus.length, 0));
  const remove = [...surplus, ...extra].slice(0, MAX_PER_PASS);
  if (remove.length > 0) return { reason: extra.length > 0 ? 'TooManyPods' : 'IndexNotWanted', remove };

  const terminating = replacesOnlyFailed(job) ? view.terminating : 0;
  const missing = Math.min(wanted - terminating - active.length, MAX_PER_PASS);
  if (missing <= 0) return { reason: 'RightSize' };
  if (!hasLimitPerIndex(job)) {
    const waitMs = remainingMs(failures, now);
    if (waitMs > 0) return { reason: 'BackingOff', waitMs };
  }
  if (!isIndexed(job)) return { reason: 'TooFewPods', create: Array.from({ length: missing }, () => undefined) };
  return indexesToAdd(view, missing);
}

/** Where somebody has said what pods cost, the cheaper go first, those that do not serve before them. */
function byCost(a: Pod, b: Pod, now: number): number {
  if (
    a.metadata.annotations?.[DISRUPTION_COST] === undefined &&
    b.metadata.annotations?.[DISRUPTION_COST] === undefined
  ) {
    return 0;
  }
  const unit = (pod: Pod) => costedUnit({ id: pod.metadata.name ?? '', pods: [pod], now });
  return compareCost(unit(a), unit(b));
}

function wantedActive({ active, job, succeeded }: JobView): number {
  const parallelism = job.spec?.parallelism ?? 1;
  if (job.spec?.completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(Math.min(job.spec.completions - succeeded, parallelism), 0);
}

/** Pods that share an index keep only the worthiest; those without a valid one are not wanted at all. */
function splitByIndex(job: Job, active: readonly Pod[]): { keep: readonly Pod[]; surplus: readonly Pod[] } {
  if (!isIndexed(job)) return { keep: active, surplus: [] };
  const byIndex = new Map<number, Pod[]>();
  const surplus: Pod[] = [];
  for (const pod of active) {
    const index = completionIndex(pod);
    if (index === undefined || index >= completionsOf(job)) surplus.push(pod);
    else byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
  }
  const keep: Pod[] = [];
  for (const pods of byIndex.values()) {
    const ranked = pods.toSorted(byWorth);
    keep.push(...ranked.slice(-1));
    surplus.push(...ranked.slice(0, -1));
  }
  return { keep, surplus };
}

function indexesToAdd(view: JobView, missing: number): SizeVerdict {
  const { active, awaitingRetry, failedIndexes = [], job, now, pods, succeededIndexes } = view;
  const held = [...active, ...(replacesOnlyFailed(job) ? pods.filter(isPodTerminating) : [])];
  const taken = intervalsOf(held.flatMap((pod) => completionIndex(pod) ?? []));
  const done = mergeIntervals(succeededIndexes, failedIndexes);
  const free = firstFree(mergeIntervals(taken, done), missing, completionsOf(job));
  const waits = free.map((index) => {
    const last = awaitingRetry.get(index);
    if (last === undefined) return 0;
    const attempts = indexFailures(last) + indexIgnoredFailures(last) + 1;
    return remainingMs({ failuresSinceSuccess: attempts, lastFailureAt: finishedAt(last) }, now);
  });
  const create = free.filter((_, at) => waits[at] === 0);
  if (create.length > 0) return { reason: 'TooFewPods', create };
  const waitMs = Math.min(...waits);
  return Number.isFinite(waitMs) && waitMs > 0 ? { reason: 'BackingOff', waitMs } : { reason: 'RightSize' };
}
