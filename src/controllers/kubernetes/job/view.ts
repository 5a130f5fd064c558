import { isPodActive, isPodReady, isPodTerminating } from '../../../api/core/pod-state.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { judgeFailure } from './failure-policy.ts';
import { hasIndex, type Intervals, intervalsOf, mergeIntervals, parseIntervals, countIndexes } from './intervals.ts';
import {
  completionIndex,
  finishedAt,
  indexFailures,
  indexIgnoredFailures,
  isFailed,
  isIndexed,
  isTracked,
} from './pod-facts.ts';

/** A Job with its pods, counted. */
export interface JobView {
  readonly job: Job;
  readonly now: number;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** Ended and not yet in any count of the status. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  /** Counted and new together. */
  readonly succeeded: number;
  readonly failed: number;
  /** Of an Indexed Job. */
  readonly succeededIndexes: Intervals;
  /** Of an Indexed Job with a limit per index. */
  readonly failedIndexes: Intervals | undefined;
  /** The last failed pod of each index that is to be tried again; it is kept until its replacement exists. */
  readonly awaitingRetry: ReadonlyMap<number, Pod>;
}

export function completionsOf({ spec }: Job): number {
  return spec?.completions ?? 0;
}

export function hasLimitPerIndex(job: Job): boolean {
  return isIndexed(job) && job.spec?.backoffLimitPerIndex !== undefined;
}

/** Is the pod's index one of the Job's? True of every pod of a Job without indexes. */
export function hasValidIndex(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true;
  const index = completionIndex(pod);
  return index !== undefined && index < completionsOf(job);
}

export function viewJob(job: Job, pods: readonly Pod[], now: number): JobView {
  const { status } = job;
  const uncountedSucceeded = new Set(status?.uncountedTerminatedPods?.succeeded);
  const uncountedFailed = new Set(status?.uncountedTerminatedPods?.failed);
  const eligible = pods.filter((pod) => isTracked(pod) && hasValidIndex(job, pod));
  const newSucceeded = eligible.filter(
    (pod) => pod.status?.phase === 'Succeeded' && !uncountedSucceeded.has(pod.metadata.uid ?? ''),
  );
  const newFailed = eligible.filter((pod) => isFailed(job, pod) && !uncountedFailed.has(pod.metadata.uid ?? ''));
  const counted = newFailed.filter((pod) => judgeFailure(job.spec?.podFailurePolicy, pod).counts);
  const active = pods.filter(isPodActive);
  const completions = completionsOf(job);

  const indexes = (chosen: readonly Pod[]): Intervals => intervalsOf(chosen.map((pod) => completionIndex(pod) ?? 0));
  const succeededIndexes = isIndexed(job)
    ? mergeIntervals(
        parseIntervals(status?.completedIndexes, completions),
        indexes(eligible.filter((pod) => pod.status?.phase === 'Succeeded')),
      )
    : [];
  const failedIndexes = hasLimitPerIndex(job)
    ? mergeIntervals(
        parseIntervals(status?.failedIndexes, completions),
        indexes(eligible.filter((pod) => exhaustsIndex(job, pod))),
      )
    : undefined;
  return {
    job,
    now,
    pods,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    newSucceeded,
    newFailed,
    succeeded: isIndexed(job)
      ? countIndexes(succeededIndexes)
      : (status?.succeeded ?? 0) + newSucceeded.length + uncountedSucceeded.size,
    failed: (status?.failed ?? 0) + counted.length + uncountedFailed.size,
    succeededIndexes,
    failedIndexes,
    awaitingRetry:
      failedIndexes === undefined
        ? new Map()
        : retryPods(job, eligible, { active, done: mergeIntervals(succeededIndexes, failedIndexes) }),
  };
}

/** Has the pod's index failed for good with it? */
function exhaustsIndex(job: Job, pod: Pod): boolean {
  if (!isFailed(job, pod)) return false;
  const { action, counts } = judgeFailure(job.spec?.podFailurePolicy, pod);
  if (action === 'FailIndex') return true;
  return counts && indexFailures(pod) >= (job.spec?.backoffLimitPerIndex ?? 0);
}

function retryPods(
  job: Job,
  eligible: readonly Pod[],
  { active, done }: { active: readonly Pod[]; done: Intervals },
): Map<number, Pod> {
  const running = new Set(active.map(completionIndex));
  const attempts = (pod: Pod): number => indexFailures(pod) + indexIgnoredFailures(pod);
  const last = new Map<number, Pod>();
  for (const pod of eligible) {
    const index = completionIndex(pod);
    if (index === undefined || !isFailed(job, pod) || hasIndex(done, index) || running.has(index)) continue;
    const known = last.get(index);
    if (known === undefined || (attempts(known) <= attempts(pod) && finishedAt(known) <= finishedAt(pod))) {
      last.set(index, pod);
    }
  }
  return last;
}
