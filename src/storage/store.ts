/**
 * A revisioned store with watch: opaque documents by key, one increasing revision for the whole store.
 *
 * Every put and every delete takes the next revision. A revision is never handed out twice for a committed change,
 * not even across a crash. What `get`, `range` and watchers see is only ever what is already on disk.
 */

export interface StoredEntry {
  readonly key: string;
  readonly value: Buffer;
  /** Revision of the change that wrote this value. */
  readonly revision: number;
  /** Revision at which the key came into being; kept through updates. */
  readonly createRevision: number;
  /** A slot for the layer above, such as the decoded object. Never persisted, never read by the store. */
  memo?: unknown;
}

export interface StoreEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** The new state of a put; the last state of a delete when the deleting transaction encoded one. */
  readonly entry?: StoredEntry;
  /** State before the change; absent when a put created the key. */
  readonly previous?: StoredEntry;
}

/** A value to be stored: bytes, or text that is stored as UTF-8. */
export type Content = Buffer | string;

/** Reads and writes of one `transact` call. Sees the writes of earlier transactions that are not yet on disk. */
export interface Transaction {
  get(key: string): StoredEntry | undefined;
  /** In key order. Do not write while iterating; collect first. */
  range(prefix: string): Iterable<StoredEntry>;
  /** `encode` receives the revision this write takes, so that the value can carry it. */
  put(key: string, encode: (revision: number) => Content): StoredEntry;
  /**
   * `encodeLast` receives the revision of the deletion and gives the bytes that the event's `entry` carries, which is
   * returned; without it the event carries only `previous`. Deleting an absent key throws.
   */
  delete(key: string, encodeLast?: (revision: number) => Content): StoredEntry | undefined;
}

export interface RangeOptions {
  /** Only keys strictly greater than this one. */
  readonly startAfter?: string;
  readonly limit?: number;
}

export interface Page {
  readonly entries: StoredEntry[];
  readonly more: boolean;
  /** How many entries of the range come after this page. */
  readonly remaining: number;
}

export type Deliver = (events: readonly StoreEvent[]) => void;

export interface Store {
  /** Last committed revision: durable and visible. Zero in a new store. */
  readonly revision: number;
  /** Watches may start after this revision, and `rangeAt` may ask for it, but nothing older. */
  readonly oldestRevision: number;

  get(key: string): StoredEntry | undefined;
  /**
   * The newest state of a key, including writes still on their way to disk. Only for computing a write from it: the
   * transaction that commits it comes after those writes and fails if they fail.
   */
  peek(key: string): StoredEntry | undefined;
  /** In key order. */
  range(prefix: string, options?: RangeOptions): StoredEntry[];
  count(prefix: string): number;
  /** The range as it was at `revision`; undefined when that is older than the history or still to come. */
  rangeAt(prefix: string, revision: number, options?: RangeOptions): Page | undefined;

  /**
   * Runs `fn` at once and to its end against pending state. When it throws, nothing is written and the promise
   * rejects with its error. Otherwise the promise resolves when the writes are on disk (fsync) and visible to get,
   * range and watchers. A transaction that writes nothing causes no flush, but still settles only after every earlier
   * transaction it may have observed is durable; if one of those fails, it fails too.
   */
  transact<T>(fn: (txn: Transaction) => T): Promise<T>;

  /**
   * Delivers every event under `prefix` with a revision greater than `after`: first those of the history, before this
   * call returns, then live, one call per flush, in order, none lost and none twice. Throws CompactedError when
   * `after` is older than the history. `deliver` must not throw. Returns the function that ends the watch.
   */
  watch(prefix: string, after: number, deliver: Deliver): () => void;

  /** Forgets the history up to and including `revision`; later watches must start there or after. */
  compact(revision: number): void;

  /**
   * Why writes cannot be made durable, in words for people; undefined while they can. After a failure it asks the disk
   * again, so that the answer is true also when nobody writes.
   */
  checkWritable(): Promise<string | undefined>;

  /** Waits for what is queued, then refuses further transactions. */
  close(): Promise<void>;
}

/** The asked-for revision has left the history: the caller must list again. */
export class CompactedError extends Error {
  readonly requested: number;
  readonly oldest: number;

  constructor(requested: number, oldest: number) {
    super(`Cannot read from revision ${requested}: history starts at revision ${oldest}`);
    this.name = 'CompactedError';
    this.requested = requested;
    this.oldest = oldest;
  }
}

/** The store was asked to write after it had been closed. */
export class StoreClosedError extends Error {
  constructor() {
    super('Cannot run a transaction: the store is closed');
    this.name = 'StoreClosedError';
  }
}

/** The writes could not be made durable. Nothing of the transaction was applied. */
export class FlushError extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Cannot write to the data directory: ${reason}. Nothing of this change was kept`, { cause });
    this.name = 'FlushError';
  }
}
