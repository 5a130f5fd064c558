import {
  type Client,
  type Clock,
  type ClockWatch,
  createEventRecorder,
  type Logger,
  type Metrics,
  watchClock,
} from '../machinery/runtime/index.ts';

export interface JumpOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called after each. */
  readonly jumped: () => void;
}

/** Where events about the API server itself are looked for. */
const SERVER = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name: 'kubernetes' } };

/**
 * Says that the clock of this machine was set, or that it slept, which is the same to everything stored with a time. The
 * new time is believed. What measures how long something takes goes by elapsed time and is not touched.
 */
export function watchForJumps({ client, clock, jumped, log, metrics }: JumpOptions): ClockWatch {
  const events = createEventRecorder({ client, clock, log, random: Math.random, component: 'quorate' });
  const jumps = metrics.counter('quorate_clock_jumps_total');
  for (const direction of ['forward', 'back'] as const) jumps.inc({ direction }, 0);
  return watchClock(clock, ({ setMs }) => {
    if (setMs === 0) return;
    const direction = setMs > 0 ? 'forward' : 'back';
    const bySeconds = Math.round(Math.abs(setMs) / 1000);
    jumps.inc({ direction });
    log.warn({ direction, bySeconds }, "this machine's clock was set; the new time is believed");
    const effect = setMs > 0 ? 'what was due in between is due now' : 'what is due at a stored time is so much later';
    const message = `The clock of the machine was set ${direction} by ${bySeconds} s: ${effect}`;
    events.record(SERVER, 'Warning', 'ClockJumped', message);
    jumped();
  });
}
