import { DEFAULT_HISTORY, History, type HistoryLimits } from './history.ts';
import type { Override } from './overrides.ts';
import { rangeBefore } from './past-range.ts';
import { PendingTransaction } from './pending-transaction.ts';
import { SortedIndex } from './sorted-index.ts';
import {
  CompactedError,
  type Deliver,
  type StoredEntry,
  FlushError,
  type Page,
  type RangeOptions,
  type Store,
  StoreClosedError,
  type StoreEvent,
  type Transaction,
} from './store.ts';
import { WatchHub } from './watch-hub.ts';

/** Where committed changes go to survive. The store calls it with one batch at a time. */
export interface Journal {
  /** All or nothing, and durable when the promise resolves. An undefined entry means the key is gone. */
  readonly write: (changes: ReadonlyMap<string, StoredEntry | undefined>, revision: number) => Promise<void>;
  /** Throws when a small write would not be made durable. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface StoreOptions {
  /** Milliseconds; decides only how old the history may get. */
  readonly now?: () => number;
  readonly history?: Partial<HistoryLimits>;
  /** Called when a watcher's `deliver` throws. */
  readonly onWatchError?: (error: unknown) => void;
  /** Called when writes begin to fail, with the reason, and with nothing when they succeed again. */
  readonly onWritable?: (problem: string | undefined) => void;
}

interface Batch {
  readonly events: StoreEvent[];
  readonly waiters: { readonly commit: () => void; readonly fail: (error: Error) => void }[];
}

const newBatch = (): Batch => ({ events: [], waiters: [] });

/**
 * Everything but the disk. A transaction runs at once against an overlay of unconfirmed writes and joins the open
 * batch; one batch at a time goes to the journal, and only when it is durable do the committed state, the history and
 * the watchers move. When the journal fails, the overlay and all that was built on it is dropped.
 */
export class RevisionedStore implements Store {
  readonly #journal: Journal;
  readonly #now: () => number;
  readonly #history: History;
  readonly #hub: WatchHub;
  readonly #committed: SortedIndex<StoredEntry>;
  readonly #overlay = new SortedIndex<Override>();
  #revision: number;
  /** Last revision handed out. Those of a failed batch are not handed out again: its fate on disk is unknown. */
  #pendingRevision: number;
  #open = newBatch();
  #flushing: Batch | undefined;
  #flushed: Promise<void> = Promise.resolve();
  #running = false;
  #closed = false;
  readonly #onWritable: (problem: string | undefined) => void;
  #problem: string | undefined;

  constructor(journal: Journal, loaded: { entries: StoredEntry[]; revision: number }, options: StoreOptions = {}) {
    this.#journal = journal;
    this.#now = options.now ?? Date.now;
    this.#history = new History({ ...DEFAULT_HISTORY, ...options.history }, loaded.revision);
    this.#hub = new WatchHub(options.onWatchError ?? ((error) => process.emitWarning(String(error))));
    this.#onWritable = options.onWritable ?? (() => {});
    this.#committed = SortedIndex.fromSorted(loaded.entries);
    this.#revision = loaded.revision;
    this.#pendingRevision = loaded.revision;
  }

  get revision(): number {
    return this.#revision;
  }

  get oldestRevision(): number {
    return this.#history.oldestRevision(this.#now());
  }

  get(key: string): StoredEntry | undefined {
    return this.#committed.get(key);
  }

  peek(key: string): StoredEntry | undefined {
    const override = this.#overlay.get(key);
    return override === undefined ? this.#committed.get(key) : override.entry;
  }

  range(prefix: string, options?: RangeOptions): StoredEntry[] {
    return this.#committed.range(prefix, options);
  }

  count(prefix: string): number {
    return this.#committed.count(prefix);
  }

  rangeAt(prefix: string, revision: number, options?: RangeOptions): Page | undefined {
    if (revision < this.oldestRevision || revision > this.#revision) return undefined;
    return rangeBefore(this.#committed, prefix, this.#history.after(revision, prefix), options);
  }

  transact<T>(fn: (txn: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreClosedError());
    if (this.#running) return Promise.reject(new Error('Cannot run a transaction inside another one'));

    const txn = new PendingTransaction({ committed: this.#committed, overlay: this.#overlay }, this.#pendingRevision);
    this.#running = true;
    try {
      const result = fn(txn);
      if (txn.events.length === 0) return this.#settleWithEarlier(() => result);
      for (const event of txn.events) this.#open.events.push(event);
      this.#pendingRevision = txn.revision;
      this.#schedule();
      return this.#waitFor(this.#open, () => result);
    } catch (error) {
      txn.rollBack();
      return this.#settleWithEarlier(() => {
        throw error;
      });
    } finally {
      txn.end();
      this.#running = false;
    }
  }

  watch(prefix: string, after: number, deliver: Deliver): () => void {
    const oldest = this.oldestRevision;
    if (after < oldest) throw new CompactedError(after, oldest);
    const missed = this.#history.after(after, prefix);
    const stop = this.#hub.add(prefix, Math.max(after, this.#revision), deliver);
    if (missed.length > 0) deliver(missed);
    return stop;
  }

  compact(revision: number): void {
    this.#history.compact(Math.min(revision, this.#revision));
  }

  async checkWritable(): Promise<string | undefined> {
    if (this.#problem === undefined || this.#closed) return this.#problem;
    try {
      await this.#journal.check();
      this.#report(undefined);
    } catch (error) {
      this.#report(problemOf(error));
    }
    return this.#problem;
  }

  async close(): Promise<void> {
    if (this.#closed) return this.#flushed;
    this.#closed = true;
    while (this.#flushing !== undefined || this.#open.events.length > 0) await this.#flushed;
    this.#hub.clear();
    this.#flushed = this.#journal.close();
    return this.#flushed;
  }

  /** What was read may still be on its way to disk: the answer waits for it, and falls with it. */
  #settleWithEarlier<T>(outcome: () => T): Promise<T> {
    const earlier = this.#open.events.length > 0 ? this.#open : this.#flushing;
    return earlier === undefined ? new Promise((resolve) => resolve(outcome())) : this.#waitFor(earlier, outcome);
  }

  #waitFor<T>(batch: Batch, outcome: () => T): Promise<T> {
    return new Promise<void>((commit, fail) => batch.waiters.push({ commit, fail })).then(outcome);
  }

  #schedule(): void {
    if (this.#flushing !== undefined || this.#open.events.length === 0) return;
    const batch = this.#open;
    this.#flushing = batch;
    // One turn of the event loop lets other writers join before the disk is asked.
    this.#flushed = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#flush(batch));
  }

  async #flush(batch: Batch): Promise<void> {
    this.#open = newBatch();
    const { events } = batch;
    const changes = new Map<string, StoredEntry | undefined>();
    for (const { type, key, entry } of events) changes.set(key, type === 'put' ? entry : undefined);
    const revision = (events[events.length - 1] as StoreEvent).revision;
    try {
      await this.#journal.write(changes, revision);
    } catch (error) {
      this.#report(problemOf(error));
      this.#discard([batch, this.#open], new FlushError(error));
      return;
    }
    // A small write may succeed where the next one would still fail.
    if (this.#problem !== undefined) void this.checkWritable();
    // Those who came meanwhile have waited long enough for others to join: the disk goes on with them at once.
    const next = this.#open;
    this.#flushing = next.events.length > 0 ? next : undefined;
    if (this.#flushing !== undefined) this.#flushed = this.#flush(next);
    this.#commit(batch, changes, revision);
    if (this.#flushing === undefined) this.#schedule();
  }

  #commit(batch: Batch, changes: ReadonlyMap<string, StoredEntry | undefined>, revision: number): void {
    for (const [key, entry] of changes) {
      if (entry === undefined) this.#committed.delete(key);
      else this.#committed.set(entry);
      // A later, unconfirmed write to the same key stays.
      if (this.#overlay.get(key)?.entry === entry) this.#overlay.delete(key);
    }
    this.#revision = revision;
    this.#history.append(batch.events, this.#now());
    this.#hub.publish(batch.events);
    for (const { commit } of batch.waiters) commit();
  }

  #report(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#onWritable(problem);
  }

  #discard(batches: readonly Batch[], error: FlushError): void {
    this.#overlay.clear();
    this.#open = newBatch();
    this.#flushing = undefined;
    for (const { waiters } of batches) for (const { fail } of waiters) fail(error);
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
