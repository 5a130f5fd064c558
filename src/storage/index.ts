export { StoreDamagedError } from './lmdb/damage.ts';
export { DirectoryInUseError } from './lmdb/directory-lock.ts';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb/lmdb-store.ts';
export { createMemoryStore } from './memory/memory-store.ts';
export { createEntry } from './record.ts';
export type { StoreOptions } from './revisioned-store.ts';
export type { Content, Deliver, Entry, Page, RangeOptions, Store, StoreEvent, Transaction } from './store.ts';
export { CompactedError, FlushError, StoreClosedError } from './store.ts';
