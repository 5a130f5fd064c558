import type { Clock } from '../../../machinery/runtime/index.ts';

interface Outstanding {
  creations: number;
  readonly deletions: Set<string>;
  readonly since: number;
}

const TIMEOUT_MS = 5 * 60_000;

/**
 * What a controller asked for and its cache has not shown yet. Without it, a pass over a stale cache would create or
 * delete the same pods again. A record older than five minutes counts as met: an event may have been lost for good.
 */
export class Expectations {
  readonly #clock: Clock;
  readonly #records = new Map<string, Outstanding>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces what was expected before. */
  expectCreations(key: string, count: number): void {
    this.#records.set(key, { creations: count, deletions: new Set(), since: this.#clock.elapsed() });
  }

  /** Replaces what was expected before. `pods` are `namespace/name`. */
  expectDeletions(key: string, pods: Iterable<string>): void {
    this.#records.set(key, { creations: 0, deletions: new Set(pods), since: this.#clock.elapsed() });
  }

  /** Replaces what was expected before with both. */
  expect(key: string, creations: number, pods: Iterable<string>): void {
    this.#records.set(key, { creations, deletions: new Set(pods), since: this.#clock.elapsed() });
  }

  /** A pod of this owner appeared, or will not: its creation failed or was skipped. */
  creationObserved(key: string, count = 1): void {
    const record = this.#records.get(key);
    if (record !== undefined) record.creations -= count;
  }

  /** A pod of this owner is going or gone, or stays: its deletion failed. Each pod counts once, others not at all. */
  deletionObserved(key: string, pod: string): void {
    this.#records.get(key)?.deletions.delete(pod);
  }

  satisfied(key: string): boolean {
    const record = this.#records.get(key);
    if (record === undefined) return true;
    if (record.creations <= 0 && record.deletions.size === 0) return true;
    return this.#clock.elapsed() - record.since > TIMEOUT_MS;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }
}
