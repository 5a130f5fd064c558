import { jobCondition } from '../../../api/batch/job-state.ts';
import type { CronJob, Job } from '../../../api/generated/batch-v1.ts';

export const isComplete = (job: Job): boolean => jobCondition(job, 'Complete') !== undefined;

/** Finished Jobs beyond the history limits, oldest first; successes and failures are counted apart. */
export function expiredJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const rank = ({ metadata, status }: Job): string => `${status?.startTime ?? '~'}/${metadata.name ?? ''}`;
  const beyond = (chosen: readonly Job[], limit: number | undefined): Job[] =>
    limit === undefined
      ? []
      : chosen.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Math.max(chosen.length - limit, 0));
  const settled = jobs.filter(({ metadata }) => !metadata.deletionTimestamp);
  return [
    ...beyond(settled.filter(isComplete), spec?.successfulJobsHistoryLimit),
    ...beyond(
      settled.filter((job) => jobCondition(job, 'Failed') !== undefined),
      spec?.failedJobsHistoryLimit,
    ),
  ];
}
