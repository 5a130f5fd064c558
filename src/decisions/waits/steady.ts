import type { Deadlock } from './model.ts';

/** What is the same in two looks so far apart is no moment in between. */
const STEADY_MS = 4000;
/** Looks further apart than this say nothing about what was between them. */
const STALE_MS = 10_000;

/** Deadlocks that last. */
export class SteadyDeadlocks {
  readonly #since = new Map<string, number>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Those of the ones found now that were found unchanged for long enough. */
  look(found: readonly Deadlock[], now: number): Deadlock[] {
    if (now - this.#lookedAt > STALE_MS || now < this.#lookedAt) this.#since.clear();
    this.#lookedAt = now;
    const keys = new Set(found.map(keyOf));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    return found.filter((one) => {
      const since = this.#since.get(keyOf(one)) ?? now;
      this.#since.set(keyOf(one), since);
      return now - since >= STEADY_MS;
    });
  }
}

const keyOf = ({ members }: Deadlock): string => members.join('\n');
