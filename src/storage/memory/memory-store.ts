import { RevisionedStore, type StoreOptions } from '../revisioned-store.ts';
import type { Store } from '../store.ts';

/** A store that forgets everything when the process ends. */
export function createMemoryStore(options?: StoreOptions): Store {
  const journal = { write: () => Promise.resolve(), close: () => Promise.resolve() };
  return new RevisionedStore(journal, { entries: [], revision: 0 }, options);
}
