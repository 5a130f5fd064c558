import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

export interface WorkQueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  /** First back-off after a failure; doubles per failure of the same key. Default 5 ms. */
  readonly baseDelayMs?: number | undefined;
  /** Longest back-off. Default 1000 s. */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Keys waiting to be worked on. A key is present at most once; a key added while it is being worked on is
 * handed out again afterwards, never to two workers at once. Delayed adds keep the earliest deadline per key.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #ready = new Set<string>();
  readonly #processing = new Set<string>();
  readonly #dirty = new Set<string>();
  readonly #delayed = new Map<string, { due: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #waiters: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#reportDepth();
    // There from the start, so that a rate of nothing is zero and not unknown.
    this.#countRetries(0);
  }

  get length(): number {
    return this.#ready.size;
  }

  /** True when nothing is ready or being worked on (delayed keys do not count). */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#processing.size === 0;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#processing.has(key)) {
      if (!this.#dirty.has(key)) this.#countAdd();
      this.#dirty.add(key);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#countAdd();
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      this.#processing.add(key);
      waiter(key);
      return;
    }
    this.#ready.add(key);
    this.#reportDepth();
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const due = this.#options.clock.elapsed() + delayMs;
    const waiting = this.#delayed.get(key);
    if (waiting !== undefined) {
      if (waiting.due <= due) return;
      waiting.cancel();
    }
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { due, cancel });
  }

  /** Adds with the back-off of the key's failures so far. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseDelayMs = 5, maxDelayMs = 1_000_000 } = this.#options;
    this.#countRetries(1);
    this.addAfter(key, Math.min(baseDelayMs * 2 ** Math.min(failures, 40), maxDelayMs));
  }

  /** Clears the key's failures: its next back-off starts from the base again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, waiting for one if need be; undefined once the queue is closed. Pair with `done`. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    for (const key of this.#ready) {
      this.#ready.delete(key);
      this.#processing.add(key);
      this.#reportDepth();
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.delete(key)) {
      // Not counted again: the add that marked it dirty was.
      const waiter = this.#waiters.shift();
      if (waiter !== undefined) {
        this.#processing.add(key);
        waiter(key);
      } else {
        this.#ready.add(key);
        this.#reportDepth();
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    for (const waiter of this.#waiters.splice(0)) waiter(undefined);
    this.#reportDepth();
  }

  #countRetries(count: number): void {
    const { metrics, name } = this.#options;
    metrics?.counter('workqueue_retries_total').inc({ name }, count);
  }

  #countAdd(): void {
    const { metrics, name } = this.#options;
    metrics?.counter('workqueue_adds_total').inc({ name });
  }

  #reportDepth(): void {
    const { metrics, name } = this.#options;
    metrics?.gauge('workqueue_depth').set({ name }, this.#ready.size);
  }
}
