import type { JobCondition, JobStatus } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { judgeFailure } from './failure-policy.ts';
import { formatIntervals } from './intervals.ts';
import { completionIndex, isFailed, isIndexed, isTracked } from './pod-facts.ts';
import { hasValidIndex, type JobView } from './view.ts';

/** Most pods kept in the status as ended but not yet counted. */
const MAX_UNCOUNTED = 500;

export interface Tracking {
  readonly status: JobStatus;
  /** Their outcome is written down in `status`; they may go. */
  readonly release: readonly Pod[];
  /** More ended pods wait for the next pass. */
  readonly more: boolean;
}

/**
 * Writes down how pods ended before anything lets go of them: first their UIDs (or indexes) go into the status, then
 * the finalizers come off, then the counts take them over. Whatever crashes in between, no pod is counted twice or
 * forgotten.
 */
export function trackPods(view: JobView, status: JobStatus, finish: JobCondition | undefined): Tracking {
  const { job } = view;
  const indexed = isIndexed(job);
  const settled = settleCounts(status, view.pods.filter(isTracked));
  const succeeded = [...(settled.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(settled.uncountedTerminatedPods?.failed ?? [])];
  const known = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const failing = finish !== undefined && finish.type === 'FailureTarget';
  const release: Pod[] = [];
  let more = false;
  for (const pod of view.pods) {
    if (!isTracked(pod) || !mayRelease(view, pod, finish)) continue;
    if (succeeded.length + failed.length >= MAX_UNCOUNTED) {
      more = true;
      break;
    }
    release.push(pod);
    const uid = pod.metadata.uid ?? '';
    if (pod.status?.phase === 'Succeeded' && !known.failed.has(uid)) {
      if (!indexed && !known.succeeded.has(uid)) succeeded.push(uid);
    } else if ((isFailed(job, pod) || failing) && !known.failed.has(uid) && hasValidIndex(job, pod)) {
      if (judgeFailure(job.spec?.podFailurePolicy, pod).counts) failed.push(uid);
    }
  }
  return {
    status: {
      ...settled,
      uncountedTerminatedPods: {
        ...(succeeded.length > 0 && { succeeded }),
        ...(failed.length > 0 && { failed }),
      },
      ...(indexed && {
        succeeded: view.succeeded,
        completedIndexes: formatIntervals(view.succeededIndexes) || undefined,
        ...(view.failedIndexes !== undefined && { failedIndexes: formatIntervals(view.failedIndexes) }),
      }),
    },
    release,
    more,
  };
}

function mayRelease({ awaitingRetry, job }: JobView, pod: Pod, finish: JobCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp || finish !== undefined || pod.status?.phase === 'Succeeded') return true;
  if (!isFailed(job, pod)) return false;
  const index = completionIndex(pod);
  return index === undefined || awaitingRetry.get(index)?.metadata.uid !== pod.metadata.uid;
}

/** Moves UIDs whose pods are no longer tracked into the counts. */
export function settleCounts(status: JobStatus, tracked: readonly Pod[]): JobStatus {
  const uids = new Set(tracked.map(({ metadata }) => metadata.uid));
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {};
  const staySucceeded = succeeded.filter((uid) => uids.has(uid));
  const stayFailed = failed.filter((uid) => uids.has(uid));
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - staySucceeded.length,
    failed: (status.failed ?? 0) + failed.length - stayFailed.length,
    uncountedTerminatedPods: {
      ...(staySucceeded.length > 0 && { succeeded: staySucceeded }),
      ...(stayFailed.length > 0 && { failed: stayFailed }),
    },
  };
}
