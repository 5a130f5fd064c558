import { type Override, rangeOver } from './overrides.ts';
import { createEntry } from './record.ts';
import type { SortedIndex } from './sorted-index.ts';
import type { Content, StoredEntry, StoreEvent, Transaction } from './store.ts';

/** LMDB's own limit is a little higher; one limit for every implementation. */
const MAX_KEY_BYTES = 1500;

/** Committed state, and over it what earlier transactions wrote and the disk has not yet confirmed. */
export interface PendingState {
  readonly committed: SortedIndex<StoredEntry>;
  readonly overlay: SortedIndex<Override>;
}

/** One running transaction: writes straight into the overlay and remembers how to take it back. */
export class PendingTransaction implements Transaction {
  readonly events: StoreEvent[] = [];
  readonly #state: PendingState;
  readonly #replaced: { readonly key: string; readonly override: Override | undefined }[] = [];
  #revision: number;
  #over = false;

  constructor(state: PendingState, revision: number) {
    this.#state = state;
    this.#revision = revision;
  }

  /** Revision of the last write, or the one the transaction started from. */
  get revision(): number {
    return this.#revision;
  }

  get(key: string): StoredEntry | undefined {
    this.#expectRunning();
    const override = this.#state.overlay.get(key);
    return override === undefined ? this.#state.committed.get(key) : override.entry;
  }

  range(prefix: string): Iterable<StoredEntry> {
    this.#expectRunning();
    return rangeOver(this.#state.committed, prefix, this.#state.overlay.range(prefix));
  }

  put(key: string, encode: (revision: number) => Content): StoredEntry {
    // A character takes three bytes at most, so that short keys need no counting.
    if (key === '' || (key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES)) {
      throw new Error(`Cannot put: the key must have 1 to ${MAX_KEY_BYTES} bytes, not ${Buffer.byteLength(key)}`);
    }
    const previous = this.get(key);
    const revision = this.#revision + 1;
    const entry = createEntry(key, revision, previous?.createRevision ?? revision, encode(revision));
    this.#revision = revision;
    this.#override({ key, entry });
    this.events.push(
      previous === undefined ? { type: 'put', key, revision, entry } : { type: 'put', key, revision, entry, previous },
    );
    return entry;
  }

  delete(key: string, encodeLast?: (revision: number) => Content): StoredEntry | undefined {
    const previous = this.get(key);
    if (previous === undefined) throw new Error(`Cannot delete "${key}": there is no such key`);
    const revision = this.#revision + 1;
    const entry = encodeLast && createEntry(key, revision, previous.createRevision, encodeLast(revision));
    this.#revision = revision;
    this.#override({ key, entry: undefined });
    this.events.push({ type: 'delete', key, revision, previous, ...(entry && { entry }) });
    return entry;
  }

  end(): void {
    this.#over = true;
  }

  rollBack(): void {
    for (const { key, override } of this.#replaced.reverse()) {
      if (override === undefined) this.#state.overlay.delete(key);
      else this.#state.overlay.set(override);
    }
  }

  #override(override: Override): void {
    this.#replaced.push({ key: override.key, override: this.#state.overlay.get(override.key) });
    this.#state.overlay.set(override);
  }

  #expectRunning(): void {
    if (this.#over) throw new Error('Cannot use a transaction after its function has returned');
  }
}
