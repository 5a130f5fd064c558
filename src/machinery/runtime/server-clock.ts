import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import type { Transport } from './transport.ts';

/** Dates come to the second and take a moment to arrive; what is below that is no skew. */
const TOLERATED_MS = 2000;

export interface ServerClock {
  /** Tells the API server's time, as far as it is known, and runs at this machine's pace. */
  readonly clock: Clock;
  /** The transport, listening to the dates of answers. */
  readonly transport: Transport;
  /** How far this machine's clock is ahead of the API server's. */
  skewMs(): number;
}

/**
 * Several replicas stamp and judge the same records, so they go by one clock: the API server's, read from the dates of
 * its answers. A machine whose clock is wrong neither forgets a grant too early nor keeps it for ever.
 */
export function createServerClock(transport: Transport, { clock, log }: { clock: Clock; log: Logger }): ServerClock {
  let skewMs = 0;
  let told = false;
  const hear = (date: string | undefined, sentMs: number): void => {
    const serverMs = Date.parse(date ?? '');
    if (Number.isNaN(serverMs)) return;
    const nowMs = clock.now();
    // The server said it somewhere between sending and now, and cut off up to a second; slow answers say little.
    if (nowMs - sentMs > TOLERATED_MS) return;
    const apart = (nowMs + sentMs) / 2 - (serverMs + 500);
    skewMs = Math.abs(apart) > TOLERATED_MS ? apart : 0;
    if (skewMs !== 0 && !told) {
      log.warn({ skewSeconds: Math.round(skewMs / 1000) }, "this machine's clock is wrong; going by the API server's");
    }
    told = skewMs !== 0;
  };
  return {
    clock: { now: () => clock.now() - skewMs, after: (delayMs, callback) => clock.after(delayMs, callback) },
    async transport(request) {
      const sentMs = clock.now();
      const response = await transport(request);
      hear(response.headers['date'], sentMs);
      return response;
    },
    skewMs: () => skewMs,
  };
}
