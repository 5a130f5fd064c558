const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

interface Record {
  delayMs: number;
  lastAt: number;
}

/** Holds back nodes on which a set's pods fail over and over: 1 s, doubling to 15 min, forgotten after twice that. */
export class FailedPodBackOff {
  readonly #bySet = new Map<string, Map<string, Record>>();

  forget(set: string): void {
    this.#bySet.delete(set);
  }

  /** One pass over a set. `mayRetry` counts as a retry when it says yes. */
  attempt(set: string, now: number): { mayRetry: (node: string) => boolean; nextRetryMs: () => number | undefined } {
    const records = this.#bySet.get(set) ?? new Map<string, Record>();
    this.#bySet.set(set, records);
    let next: number | undefined;
    for (const [node, { lastAt }] of records) if (now - lastAt > 2 * LONGEST_MS) records.delete(node);
    return {
      mayRetry(node) {
        const record = records.get(node);
        const waitMs = record === undefined ? 0 : record.lastAt + record.delayMs - now;
        if (waitMs > 0) {
          next = Math.min(next ?? waitMs, waitMs);
          return false;
        }
        const delayMs = record === undefined ? FIRST_MS : Math.min(record.delayMs * 2, LONGEST_MS);
        records.set(node, { delayMs, lastAt: now });
        return true;
      },
      nextRetryMs: () => next,
    };
  }
}
