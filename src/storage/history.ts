import type { StoreEvent } from './store.ts';

export interface HistoryLimits {
  /** Most events kept. */
  readonly maxEvents: number;
  /** Most bytes of values kept alive only by the history. */
  readonly maxBytes: number;
  /** Events older than this are dropped. */
  readonly maxAgeMs: number;
}

export const DEFAULT_HISTORY: HistoryLimits = {
  maxEvents: 200_000,
  maxBytes: 256 * 1024 * 1024,
  maxAgeMs: 5 * 60_000,
};

/** The bounded window of past events: serves late watchers, and older states by undoing. */
export class History {
  readonly #limits: HistoryLimits;
  #events: StoreEvent[] = [];
  #stamps: number[] = [];
  /** Events before this place are dropped; the arrays are cut only now and then. */
  #head = 0;
  #bytes = 0;
  #oldest: number;

  constructor(limits: HistoryLimits, revision: number) {
    this.#limits = limits;
    this.#oldest = revision;
  }

  /** Every event after this revision is still here. */
  oldestRevision(now: number): number {
    this.#trim(now);
    return this.#oldest;
  }

  append(events: readonly StoreEvent[], now: number): void {
    for (const event of events) {
      this.#events.push(event);
      this.#stamps.push(now);
      this.#bytes += heldBytes(event);
    }
    this.#trim(now);
  }

  compact(revision: number): void {
    while (this.#head < this.#events.length && (this.#events[this.#head] as StoreEvent).revision <= revision)
      this.#drop();
    if (revision > this.#oldest) this.#oldest = revision;
    this.#cut();
  }

  /** Events after `revision` under `prefix`, oldest first. */
  after(revision: number, prefix: string): StoreEvent[] {
    const found: StoreEvent[] = [];
    for (let at = this.#firstAfter(revision); at < this.#events.length; at++) {
      const event = this.#events[at] as StoreEvent;
      if (event.key.startsWith(prefix)) found.push(event);
    }
    return found;
  }

  #firstAfter(revision: number): number {
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as StoreEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(now: number): void {
    const { maxEvents, maxBytes, maxAgeMs } = this.#limits;
    while (
      this.#head < this.#events.length &&
      (this.#events.length - this.#head > maxEvents ||
        this.#bytes > maxBytes ||
        now - (this.#stamps[this.#head] as number) > maxAgeMs)
    ) {
      this.#drop();
    }
    this.#cut();
  }

  #drop(): void {
    const event = this.#events[this.#head++] as StoreEvent;
    this.#bytes -= heldBytes(event);
    this.#oldest = event.revision;
  }

  #cut(): void {
    if (this.#head < 1024 || this.#head < this.#events.length >> 2) return;
    this.#events = this.#events.slice(this.#head);
    this.#stamps = this.#stamps.slice(this.#head);
    this.#head = 0;
  }
}

function heldBytes({ type, entry, previous }: StoreEvent): number {
  return (previous?.value.length ?? 0) + (type === 'delete' ? (entry?.value.length ?? 0) : 0);
}
