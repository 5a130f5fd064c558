import { jobCondition } from '../../../api/batch/job-state.ts';
import type { Job, JobCondition } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatTime, parseTime } from '../../../machinery/values/index.ts';
import { judgeFailure } from './failure-policy.ts';
import { countIndexes, countShared, parseIntervals } from './intervals.ts';
import { isFailed, isIndexed } from './pod-facts.ts';
import { completionsOf, type JobView } from './view.ts';

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true;
}

export function newCondition(type: string, reason: string, message: string, now: number): JobCondition {
  const at = formatTime(now);
  return { type, status: 'True', lastProbeTime: at, lastTransitionTime: at, reason, message };
}

/**
 * Whether the Job is to end, as the interim condition that says so. Rules, first match wins:
 *  1. it was decided before
 *  2. the pod failure policy fails the Job
 *  3. the back-off limit is exceeded
 *  4. the deadline has passed
 *  5. too many indexes failed, or all others are done and some failed
 *  6. the success policy is met
 */
export function decideFinish(view: JobView): JobCondition | undefined {
  const { job, now, pods } = view;
  const met = jobCondition(job, 'SuccessCriteriaMet') ?? jobCondition(job, 'FailureTarget');
  if (met !== undefined) return met;
  const fail = (reason: string, message: string) => newCondition('FailureTarget', reason, message, now);

  for (const pod of job.spec?.podFailurePolicy === undefined ? [] : pods) {
    const { message } = isFailed(job, pod) ? judgeFailure(job.spec?.podFailurePolicy, pod) : {};
    if (message !== undefined) return fail('PodFailurePolicy', message);
  }
  if (view.failed > (job.spec?.backoffLimit ?? 6) || restartsExceedLimit(job, pods)) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if ((deadlineLeftMs(job, now) ?? 1) <= 0) {
    return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  const failedIndexes = countIndexes(view.failedIndexes ?? []);
  const { maxFailedIndexes } = job.spec ?? {};
  if (maxFailedIndexes !== undefined && failedIndexes > maxFailedIndexes) {
    return fail('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  if (failedIndexes > 0 && failedIndexes + countIndexes(view.succeededIndexes) >= completionsOf(job)) {
    return fail('FailedIndexes', 'Job has failed indexes');
  }
  const rule = metSuccessRule(view);
  return rule === undefined
    ? undefined
    : newCondition('SuccessCriteriaMet', 'SuccessPolicy', `Matched rules at index ${rule}`, now);
}

/** Time left of activeDeadlineSeconds; undefined when there is none or it does not run. */
export function deadlineLeftMs(job: Job, now: number): number | undefined {
  const startedAt = parseTime(job.status?.startTime);
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds === undefined || startedAt === undefined || isSuspended(job)) return undefined;
  return startedAt + seconds * 1000 - now;
}

/** Under OnFailure containers restart in place, and their restarts are the failures. */
function restartsExceedLimit({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false;
  const limit = spec.backoffLimit ?? 6;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += restartCount;
    }
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function metSuccessRule({ job, succeededIndexes }: JobView): number | undefined {
  if (!isIndexed(job) || succeededIndexes.length === 0) return undefined;
  const found = (job.spec?.successPolicy?.rules ?? []).findIndex((rule) => {
    if (rule.succeededIndexes === undefined) {
      return rule.succeededCount !== undefined && countIndexes(succeededIndexes) >= rule.succeededCount;
    }
    const required = parseIntervals(rule.succeededIndexes, completionsOf(job));
    if (required.length === 0) return false;
    const done = countShared(required, succeededIndexes);
    return done === countIndexes(required) || (rule.succeededCount !== undefined && done >= rule.succeededCount);
  });
  return found < 0 ? undefined : found;
}
