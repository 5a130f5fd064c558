/**
 * Tells what transactions write, at once and in order, before it is on disk. Who keeps counts from this sees inside a
 * transaction exactly the state that the transaction will be committed to; watches are always a flush behind.
 */
import type { StoredEntry, Store, Transaction } from '../../storage/index.ts';

export interface PendingWrite {
  readonly key: string;
  /** Undefined: the key was deleted. */
  readonly entry: StoredEntry | undefined;
}

export interface WriteListener {
  /**
   * At the end of a transaction that wrote something; `state` reads what it will be committed to. Must not throw.
   */
  wrote(writes: readonly PendingWrite[], state: Pick<Transaction, 'range'>): void;
  /** What was told may not have reached the disk: read everything again. */
  lost(): void;
}

export interface PendingWrites {
  /** Returns the function that ends it. */
  listen(listener: WriteListener): () => void;
}

/** Resolves when everything that was written before can be read; rejects when it was lost. */
export const whenWritten = (store: Pick<Store, 'transact'>): Promise<void> => store.transact(() => {});

/** Hears how long transactions take that write. */
export interface WriteMeter {
  begin(): number;
  /** `write` is the first of the transaction. */
  end(began: number, write: PendingWrite, failed?: boolean): void;
}

/** The same store, with its transactions observed. */
export function observeWrites(store: Store, meter?: WriteMeter): { store: Store; writes: PendingWrites } {
  const listeners = new Set<WriteListener>();
  const transact = <T>(fn: (transaction: Transaction) => T): Promise<T> => {
    if (listeners.size === 0 && meter === undefined) return store.transact(fn);
    let told: PendingWrite | undefined;
    const began = meter?.begin() ?? 0;
    const result = store.transact((transaction) => {
      const writes: PendingWrite[] = [];
      const value = fn(recording(transaction, writes));
      if (writes.length > 0) {
        told = writes[0] as PendingWrite;
        for (const listener of listeners) listener.wrote(writes, transaction);
      }
      return value;
    });
    result.then(
      () => {
        if (told !== undefined) meter?.end(began, told);
      },
      () => {
        if (told === undefined) return;
        meter?.end(began, told, true);
        for (const listener of listeners) listener.lost();
      },
    );
    return result;
  };
  return {
    store: {
      get revision() {
        return store.revision;
      },
      get oldestRevision() {
        return store.oldestRevision;
      },
      get: (key) => store.get(key),
      peek: (key) => store.peek(key),
      range: (prefix, options) => store.range(prefix, options),
      count: (prefix) => store.count(prefix),
      rangeAt: (prefix, revision, options) => store.rangeAt(prefix, revision, options),
      transact,
      watch: (prefix, after, deliver) => store.watch(prefix, after, deliver),
      compact: (revision) => store.compact(revision),
      checkWritable: () => store.checkWritable(),
      close: () => store.close(),
    },
    writes: {
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
}

function recording(transaction: Transaction, writes: PendingWrite[]): Transaction {
  return {
    get: (key) => transaction.get(key),
    range: (prefix) => transaction.range(prefix),
    put(key, encode) {
      const entry = transaction.put(key, encode);
      writes.push({ key, entry });
      return entry;
    },
    delete(key, encodeLast) {
      const last = transaction.delete(key, encodeLast);
      writes.push({ key, entry: undefined });
      return last;
    },
  };
}
