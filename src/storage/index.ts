export type { Deliver, Entry, Page, RangeOptions, Store, StoreEvent, Transaction } from './store.ts';
export { CompactedError, FlushError } from './store.ts';
