/** Where time comes from. Nothing in this project reads the wall clock or sets a timer except through one of these. */
export interface Clock {
  /** Milliseconds since the epoch. It jumps when the machine's clock is set. */
  now(): number;
  /**
   * Milliseconds since a moment that nobody knows. Nobody can set it, so that what lies between two readings has really
   * passed; it may stand still while the machine sleeps.
   */
  elapsed(): number;
  /** Calls back once after the delay; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

/** A moment that was noted as elapsed time, on the clock as it is set now. What is counted from it is not moved by a jump. */
export function wallTimeOf(clock: Pick<Clock, 'elapsed' | 'now'>, elapsedMs: number): number {
  return clock.now() - (clock.elapsed() - elapsedMs);
}

/** Longest delay Node's timers keep; longer ones would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const wait = Math.min(Math.max(left, 0), MAX_TIMER_MS);
      timer = setTimeout(() => (left > wait ? arm(left - wait) : callback()), wait);
      // A pending timer alone never keeps the process alive: servers and watches do.
      timer.unref();
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved by hand. */
export class ManualClock implements Clock {
  #now: number;
  #elapsed = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Sets the clock, as an administrator or a time service would: no time passes. */
  set(now: number): void {
    this.#now = now;
  }

  /** Lets time pass while no timer is served, as on a thread that is busy or a machine that is paused. */
  pass(ms: number): void {
    this.#moveTo(this.#elapsed + ms);
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { due: this.#elapsed + Math.max(delayMs, 0), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** When the next timer is due; undefined when none is set. */
  get nextDue(): number | undefined {
    const due = this.#first()?.due;
    return due === undefined ? undefined : this.#now + due - this.#elapsed;
  }

  /**
   * Moves time forward, firing timers in order of their due time. Between two timers pending work gets
   * the chance to run, so work started by the first is seen by the second.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms;
    await settle();
    for (let timer = this.#first(); timer !== undefined && timer.due <= target; timer = this.#first()) {
      this.#timers.delete(timer);
      this.#moveTo(Math.max(this.#elapsed, timer.due));
      timer.callback();
      await settle();
    }
    this.#moveTo(target);
    await settle();
  }

  #moveTo(elapsed: number): void {
    this.#now += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Lets promises and immediates that are already due run. In-process planes use no others, so this drains them. */
export async function settle(rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A promise that resolves after the delay, or rejects with the signal's reason. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
