/**
 * Values by key and revision, with transactions and watches: in memory, or on disk by LMDB. Knows no kinds; sees only
 * machinery. Each store passes store.contract.ts.
 */
export { openLmdbStore } from './lmdb/lmdb-store.ts';
export { createMemoryStore } from './memory/memory-store.ts';
export { createEntry } from './record.ts';
export type { StoredEntry, Store, StoreEvent, Transaction } from './store.ts';
export { CompactedError, FlushError, StoreClosedError } from './store.ts';
