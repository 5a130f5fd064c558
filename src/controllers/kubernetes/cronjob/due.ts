import type { Schedule } from '../../../api/batch/index.ts';
import type { CronJob } from '../../../api/generated/batch-v1.ts';
import { parseTime } from '../../../machinery/values/index.ts';

export type DueVerdict =
  | { readonly reason: 'NotDue' | 'Invalid' }
  | { readonly reason: 'Missed'; readonly at: number }
  /** `manyMissed`: so many starts were missed that something is wrong with the clock or the schedule. */
  | { readonly reason: 'Due'; readonly at: number; readonly manyMissed: boolean };

const MANY = 100;

/**
 * The most recent moment, up to now, at which a Job should have been started and was not. Earlier ones are skipped:
 * only the last counts. With a deadline, moments older than it do not count at all.
 */
export function decideDue(cronJob: CronJob, schedule: Schedule, now: number): DueVerdict {
  const { startingDeadlineSeconds } = cronJob.spec ?? {};
  const since = lastMoment(cronJob);
  const earliest =
    startingDeadlineSeconds === undefined ? since : Math.max(since, now - startingDeadlineSeconds * 1000);
  const first = schedule.next(earliest);
  if (first === undefined || first > now) return { reason: 'NotDue' };
  const second = schedule.next(first);
  if (second !== undefined && second - first < 1000) return { reason: 'Invalid' };
  let recent = first;
  let manyMissed = false;
  if (second !== undefined && second <= now) {
    const period = second - first;
    const missed = Math.floor((now - first) / period) + 1;
    manyMissed = missed > MANY;
    // Step close to now in one go, then walk: schedules are not evenly spaced.
    for (
      let next = schedule.next(first + Math.max(missed - 2, 0) * period);
      next !== undefined && next <= now;
      next = schedule.next(next)
    ) {
      recent = next;
    }
  }
  const tooLate = startingDeadlineSeconds !== undefined && recent + startingDeadlineSeconds * 1000 < now;
  return tooLate ? { reason: 'Missed', at: recent } : { reason: 'Due', at: recent, manyMissed };
}

/** When to look again: just after the next moment of the schedule. */
export function nextLookMs(schedule: Schedule, now: number): number | undefined {
  const next = schedule.next(now);
  return next === undefined ? undefined : next - now + 100;
}

function lastMoment({ metadata, status }: CronJob): number {
  return parseTime(status?.lastScheduleTime) ?? parseTime(metadata.creationTimestamp) ?? 0;
}
