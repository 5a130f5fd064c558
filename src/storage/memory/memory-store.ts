import { RevisionedStore, type StoreOptions } from '../revisioned-store.ts';
import type { Store } from '../store.ts';

const resolved = (): Promise<void> => Promise.resolve();

/** A store that forgets everything when the process ends. */
export function createMemoryStore(options?: StoreOptions): Store {
  const journal = { write: resolved, check: resolved, close: resolved };
  return new RevisionedStore(journal, { entries: [], revision: 0 }, options);
}
