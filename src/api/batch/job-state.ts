/** Questions about one Job that every controller asks the same way. */
import type { Job, JobCondition } from '../generated/batch-v1.ts';

/** The condition of this type, where it holds. */
export function jobCondition({ status }: Job, type: string): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

export function isJobFinished(job: Job): boolean {
  return jobCondition(job, 'Complete') !== undefined || jobCondition(job, 'Failed') !== undefined;
}
