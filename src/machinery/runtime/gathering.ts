import type { Clock } from './clock.ts';

/** In a storm, passes over one key are so many times further apart than the first effect waits. */
const STORM_FACTOR = 5;

/**
 * How long to wait before looking at a key, so that effects which come in storms share a pass: after a quiet time just
 * long enough to see whether more follow, and longer while they do.
 */
export class Gathering {
  readonly #clock: Clock;
  readonly #gatherMs: number;
  /** When the last gathered pass over a key was, or will be. */
  readonly #passes = new Map<string, number>();

  /** `gatherMs` 0: nothing waits. */
  constructor(clock: Clock, gatherMs: number) {
    this.#clock = clock;
    this.#gatherMs = gatherMs;
  }

  delayMs(key: string): number {
    if (this.#gatherMs <= 0) return 0;
    const now = this.#clock.now();
    const last = this.#passes.get(key) ?? Number.NEGATIVE_INFINITY;
    if (now <= last) return last - now;
    const next = Math.max(now + this.#gatherMs, last + this.#gatherMs * STORM_FACTOR);
    this.#passes.set(key, next);
    return next - now;
  }

  forget(key: string): void {
    this.#passes.delete(key);
  }
}
