/** How many requests are being answered at once; of the last second the most, as the number itself is gone at once. */
import type { Clock } from '../../machinery/runtime/index.ts';

const WINDOW_MS = 1000;

class Level {
  now = 0;
  #most = 0;
  #mostBefore = 0;
  #windowMs = 0;

  enter(atMs: number): void {
    if (atMs - this.#windowMs >= WINDOW_MS) this.#turn(atMs);
    this.now += 1;
    if (this.now > this.#most) this.#most = this.now;
  }

  most(atMs: number): number {
    if (atMs - this.#windowMs >= WINDOW_MS) this.#turn(atMs);
    return Math.max(this.#most, this.#mostBefore);
  }

  #turn(atMs: number): void {
    this.#mostBefore = atMs - this.#windowMs < 2 * WINDOW_MS ? this.#most : this.now;
    this.#most = this.now;
    this.#windowMs = atMs;
  }
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

export class InFlight {
  readonly #clock: Clock;
  readonly #reading = new Level();
  readonly #mutating = new Level();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(method: string, atMs: number): void {
    (isReading(method) ? this.#reading : this.#mutating).enter(atMs);
  }

  leave(method: string): void {
    (isReading(method) ? this.#reading : this.#mutating).now -= 1;
  }

  most(): { readOnly: number; mutating: number } {
    const now = this.#clock.elapsed();
    return { readOnly: this.#reading.most(now), mutating: this.#mutating.most(now) };
  }
}
