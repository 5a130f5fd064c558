import type { Clock, ManualClock } from '../../src/machinery/runtime/index.ts';

/**
 * One simulated process: everything it learns of the world comes through its clock and its connections, and both ask here
 * first. A dead one hears nothing any more, a paused one hears it when it goes on.
 */
export class SimulatedProcess implements Clock {
  readonly name: string;
  readonly #world: ManualClock;
  #dead = false;
  #paused = false;
  #setByMs = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(name: string, world: ManualClock, setByMs = 0) {
    this.name = name;
    this.#world = world;
    this.#setByMs = setByMs;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get setByMs(): number {
    return this.#setByMs;
  }

  now(): number {
    return this.#world.now() + this.#setByMs;
  }

  elapsed(): number {
    return this.#world.elapsed();
  }

  after(delayMs: number, callback: () => void): () => void {
    let cancelled = false;
    const cancel = this.#world.after(delayMs, () =>
      this.whenRunning(() => {
        if (!cancelled) callback();
      }),
    );
    return () => {
      cancelled = true;
      cancel();
    };
  }

  /** Calls at once, when the process goes on, or never. */
  whenRunning(callback: () => void): void {
    if (this.#dead) return;
    if (this.#paused) this.#waiting.push(callback);
    else callback();
  }

  running(): Promise<void> {
    return new Promise((resolve) => this.whenRunning(resolve));
  }

  /** Its clock is set; what has elapsed is not changed by that. */
  setClockBy(ms: number): void {
    this.#setByMs += ms;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    for (const callback of this.#waiting.splice(0)) this.whenRunning(callback);
  }

  kill(): void {
    this.#dead = true;
    this.#waiting.length = 0;
  }
}
