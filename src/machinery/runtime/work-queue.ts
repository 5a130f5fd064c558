import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';
import { QueueMeter } from './queue-meter.ts';

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
  readonly #meter: QueueMeter | undefined;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    const { clock, metrics, name } = options;
    if (metrics !== undefined) this.#meter = new QueueMeter(metrics, name, clock);
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
      if (!this.#dirty.has(key)) this.#meter?.added(key);
      this.#dirty.add(key);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#meter?.added(key);
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      this.#begin(key);
      waiter(key);
      return;
    }
    this.#ready.add(key);
    this.#meter?.depth(this.#ready.size);
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
    this.#meter?.retried();
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
      this.#begin(key);
      this.#meter?.depth(this.#ready.size);
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  done(key: string): void {
    this.#processing.delete(key);
    this.#meter?.done(key);
    if (this.#dirty.delete(key)) {
      // Not counted again: the add that marked it dirty was.
      const waiter = this.#waiters.shift();
      if (waiter !== undefined) {
        this.#begin(key);
        waiter(key);
      } else {
        this.#ready.add(key);
        this.#meter?.depth(this.#ready.size);
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    for (const waiter of this.#waiters.splice(0)) waiter(undefined);
    this.#meter?.close();
  }

  #begin(key: string): void {
    this.#processing.add(key);
    this.#meter?.begun(key);
  }
}
