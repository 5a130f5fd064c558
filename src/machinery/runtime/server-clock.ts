import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import type { Transport } from './transport.ts';

/** Dates come to the second and take a moment to arrive; what is below that is no skew. */
const TOLERATED_MS = 2000;

export interface ServerClock {
  /** Tells the API server's time, as far as it is known, and runs at this machine's pace, whatever its clock is set to. */
  readonly clock: Clock;
  /** The transport, listening to the dates of answers. */
  readonly transport: Transport;
  /** How far this machine's clock was ahead of the API server's at the last answer; 0 where that is no skew. */
  skewMs(): number;
}

/**
 * Several replicas stamp and judge the same records, so they go by one clock: the API server's, read from the dates of
 * its answers. A machine whose clock is wrong, or is set, neither forgets a grant too early nor keeps it for ever.
 */
export function createServerClock(transport: Transport, { clock, log }: { clock: Clock; log: Logger }): ServerClock {
  /** The server's time is this much ahead of the time that has elapsed here. */
  let aheadMs = clock.now() - clock.elapsed();
  let skewMs = 0;
  const hear = (date: string | undefined, sentMs: number): void => {
    const serverMs = Date.parse(date ?? '');
    const elapsedMs = clock.elapsed();
    // The server said it somewhere between sending and now, and cut off up to a second; slow answers say little.
    if (Number.isNaN(serverMs) || elapsedMs - sentMs > TOLERATED_MS) return;
    const heardMs = serverMs + 500 - (elapsedMs + sentMs) / 2;
    if (Math.abs(heardMs - aheadMs) > TOLERATED_MS) aheadMs = heardMs;
    const apart = clock.now() - elapsedMs - heardMs;
    const told = skewMs !== 0;
    skewMs = Math.abs(apart) > TOLERATED_MS ? apart : 0;
    if (skewMs === 0 || told) return;
    log.warn({ skewSeconds: Math.round(skewMs / 1000) }, "this machine's clock is wrong; going by the API server's");
  };
  return {
    clock: {
      now: () => clock.elapsed() + aheadMs,
      elapsed: () => clock.elapsed(),
      after: (delayMs, callback) => clock.after(delayMs, callback),
    },
    async transport(request) {
      const sentMs = clock.elapsed();
      const response = await transport(request);
      hear(response.headers['date'], sentMs);
      return response;
    },
    skewMs: () => skewMs,
  };
}
