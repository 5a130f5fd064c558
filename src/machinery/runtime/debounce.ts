import type { Clock } from './clock.ts';

/** In a storm, passes over one key are so many times further apart than the first effect waits. */
const STORM_FACTOR = 5;

/**
 * How long to wait before looking at a key, so that effects which come in storms share a pass: after a quiet time just
 * long enough to see whether more follow, and longer while they do.
 */
export class Debounce {
  readonly #clock: Clock;
  readonly #debounceMs: number;
  /** When the last gathered pass over a key was, or will be. */
  readonly #passes = new Map<string, number>();

  /** `debounceMs` 0: nothing waits. */
  constructor(clock: Clock, debounceMs: number) {
    this.#clock = clock;
    this.#debounceMs = debounceMs;
  }

  delayMs(key: string): number {
    if (this.#debounceMs <= 0) return 0;
    const now = this.#clock.elapsed();
    const last = this.#passes.get(key) ?? Number.NEGATIVE_INFINITY;
    if (now <= last) return last - now;
    const next = Math.max(now + this.#debounceMs, last + this.#debounceMs * STORM_FACTOR);
    this.#passes.set(key, next);
    return next - now;
  }

  forget(key: string): void {
    this.#passes.delete(key);
  }
}
