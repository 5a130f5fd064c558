/** Cron schedules as Kubernetes reads them: five fields, names such as `@daily`, and `@every <duration>`. */
import { Cron } from 'croner';
import { parseDurationMs } from '../../machinery/values/index.ts';

export interface Schedule {
  /** The first moment after the given one; undefined when there is none. */
  next(afterMs: number): number | undefined;
}

/** Undefined when the text or time zone cannot be read. Without a zone, times are UTC. */
export function parseSchedule(text: string, timeZone = 'UTC'): Schedule | undefined {
  const every = /^@every (.+)$/.exec(text);
  if (every !== null) {
    const period = parseDurationMs(every[1] as string);
    if (period === undefined || period < 1000) return undefined;
    return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + Math.floor(period / 1000) * 1000 };
  }
  if (!isPlain(text) || !isTimeZone(timeZone)) return undefined;
  try {
    // `?` means any value here, as `*` does.
    const cron = new Cron(text.replaceAll('?', '*'), { mode: '5-part', timezone: timeZone, paused: true });
    return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
  } catch {
    return undefined;
  }
}

const NAMED = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

/** No extensions of single cron dialects (`L`, `W`, `#`, seconds). */
function isPlain(text: string): boolean {
  if (NAMED.test(text)) return true;
  const fields = text.trim().split(/\s+/);
  return fields.length === 5 && fields.every((field) => /^[0-9A-Za-z*?/,-]+$/.test(field) && !/[LW]\b/.test(field));
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
