import type { Maintenance, MaintenanceYield } from '../../api/quorate/maintenance.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';

const FIRST_MS = 10 * 60_000;
const MOST_TIMES = 2;

/** Whether a Maintenance has stepped back and stays so: one it stepped back for goes on, and its time is not over. */
export function isYielding({ status }: Maintenance, now: number, isUnfinished: (name: string) => boolean): boolean {
  const { yielded } = status ?? {};
  if (yielded === undefined) return false;
  return now < (parseTime(yielded.until) ?? 0) && yielded.to.some(isUnfinished);
}

/** Steps back for others: for 10 minutes at most, then 20, then 40. */
export function stepBack(before: MaintenanceYield | undefined, to: readonly string[], now: number): MaintenanceYield {
  const times = (before?.times ?? 0) + 1;
  const lastsMs = FIRST_MS * 2 ** Math.min(times - 1, MOST_TIMES);
  return { since: formatTime(now), until: formatTime(now + lastsMs), to: [...to], times };
}
