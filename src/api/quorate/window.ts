import {
  type FieldPath,
  invalid,
  type Issue,
  notSupported,
  parseDurationMs,
  required,
  tooMany,
} from '../../machinery/values/index.ts';
import { isTimeZone } from '../batch/schedule.ts';

/** A time of the week in which something may happen. It begins on each of its days at `start` and lasts `duration`. */
export interface Window {
  /** The days it starts on; absent or empty: every day. */
  days?: string[] | undefined;
  /** `HH:MM` on the clocks of its time zone. */
  start: string;
  /** Elapsed time, as a Go duration from 1m to 24h. It may cross midnight. */
  duration: string;
  /** An IANA name; absent: UTC. */
  timeZone?: string | undefined;
}

/** In the order of `Date.prototype.getUTCDay`. */
export const WINDOW_DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
export const WINDOW_START = /^([01]\d|2[0-3]):([0-5]\d)$/;

const MAX_WINDOWS = 16;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

/** Every rule that a list of windows breaks. */
export function validateWindows(windows: readonly Window[] | undefined, path: FieldPath): Issue[] {
  if (windows === undefined) return [];
  const issues: Issue[] = [];
  if (windows.length > MAX_WINDOWS) {
    issues.push(tooMany(path, windows.length, MAX_WINDOWS));
  }
  for (const [at, window] of windows.entries()) issues.push(...validateWindow(window, path.index(at)));
  return issues;
}

function validateWindow({ days, duration, start, timeZone }: Window, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  for (const [at, day] of (days ?? []).entries()) {
    if (!(WINDOW_DAYS as readonly string[]).includes(day)) {
      issues.push(notSupported(path.child('days').index(at), day, [...WINDOW_DAYS]));
    } else if (days?.indexOf(day) !== at) {
      issues.push(invalid(path.child('days').index(at), day, 'is named twice'));
    }
  }
  if (!start) issues.push(required(path.child('start')));
  else if (!WINDOW_START.test(start)) {
    issues.push(invalid(path.child('start'), start, 'must be a time of day from 00:00 to 23:59, such as 02:30'));
  }
  if (!duration) issues.push(required(path.child('duration')));
  else {
    const ms = parseDurationMs(duration);
    if (ms === undefined || ms < SHORTEST_MS || ms > LONGEST_MS) {
      issues.push(invalid(path.child('duration'), duration, 'must be a duration from 1m to 24h, such as 4h'));
    }
  }
  if (timeZone !== undefined && !isZoneName(timeZone)) {
    const text = 'must be the name of a time zone as https://www.iana.org/time-zones has it, such as Europe/Berlin';
    issues.push(invalid(path.child('timeZone'), timeZone, text));
  }
  return issues;
}

/** Offsets such as `+01:00` are understood by the runtime, but are no names. */
function isZoneName(name: string): boolean {
  return /^[A-Za-z]/.test(name) && isTimeZone(name);
}
