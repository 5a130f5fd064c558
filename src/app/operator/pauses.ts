/** A replica that was away, as in a pause of its process or machine, decides nothing until it has seen the pods of now. */
import { type Clock, type Logger, sleep, watchClock } from '../../machinery/runtime/index.ts';
import { HOLD_MS, type ProbeCheck } from '../../webhook/index.ts';

export interface PauseOptions {
  /** This machine's own, which can be set, and not the API server's. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Whether the pods known here are those of now. */
  readonly sawPods: (signal: AbortSignal) => Promise<boolean>;
}

const TRY_AGAIN_MS = 1000;

export function watchForPauses({ clock, log, sawPods, signal }: PauseOptions): ProbeCheck {
  let problem: string | undefined;
  const catchUp = async (): Promise<void> => {
    while (problem !== undefined && !signal.aborted) {
      const seen = await sawPods(signal).catch(() => false);
      if (seen) problem = undefined;
      else await sleep(clock, TRY_AGAIN_MS, signal).catch(() => {});
    }
    if (!signal.aborted) log.info({}, 'the pods of now have been seen; deciding again');
  };
  const watch = watchClock(clock, ({ awayMs, setMs }) => {
    if (Math.max(awayMs, Math.abs(setMs)) < HOLD_MS) return;
    const isUnderWay = problem !== undefined;
    const seconds = (ms: number): number => Math.round(Math.abs(ms) / 1000);
    const what =
      Math.abs(setMs) < HOLD_MS
        ? `this replica stood still for ${seconds(awayMs)} s`
        : `this machine's clock was set ${setMs > 0 ? 'forward' : 'back'} by ${seconds(setMs)} s`;
    problem = `${what}; the pods of now have not been seen yet`;
    log.warn({ awaySeconds: seconds(awayMs), setSeconds: Math.round(setMs / 1000) }, what);
    if (!isUnderWay) void catchUp();
  });
  signal.addEventListener('abort', () => watch.stop(), { once: true });
  return {
    name: 'clock',
    needed: true,
    problem() {
      watch.look();
      return problem;
    },
  };
}
