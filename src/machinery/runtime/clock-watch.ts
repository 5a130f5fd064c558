import type { Clock } from './clock.ts';

const TICK_MS = 1000;
/** Corrections of a time service are smaller, or slow. */
const TOLERATED_MS = 5000;

export interface ClockStep {
  /** How far the clock was set, forward or (negative) back; a machine that slept finds its clock set forward. 0: not set. */
  readonly setMs: number;
  /** How long nothing ran here, by whichever clock says more. */
  readonly awayMs: number;
}

export interface ClockWatch {
  /** Looks now, and tells of what was found; a moment after a pause nobody else may have. */
  look(): void;
  stop(): void;
}

/** Notices when the machine's clock was set, its machine slept, or the process stood still for longer than tolerated. */
export function watchClock(clock: Clock, stepped: (step: ClockStep) => void): ClockWatch {
  let seen = { now: clock.now(), elapsed: clock.elapsed() };
  let cancel = (): void => {};
  const look = (): void => {
    const found = { now: clock.now(), elapsed: clock.elapsed() };
    const [wallMs, elapsedMs] = [found.now - seen.now, found.elapsed - seen.elapsed];
    seen = found;
    const setMs = Math.abs(wallMs - elapsedMs) > TOLERATED_MS ? Math.round(wallMs - elapsedMs) : 0;
    const awayMs = Math.max(wallMs, elapsedMs);
    if (setMs !== 0 || awayMs > TICK_MS + TOLERATED_MS) stepped({ setMs, awayMs });
  };
  const tick = (): void => {
    look();
    cancel = clock.after(TICK_MS, tick);
  };
  tick();
  return { look, stop: () => cancel() };
}
