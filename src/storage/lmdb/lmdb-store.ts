import { chmod, mkdir } from 'node:fs/promises';
import { RevisionedStore, type StoreOptions } from '../revisioned-store.ts';
import type { Store } from '../store.ts';
import { lockDirectory } from './directory-lock.ts';
import { loadEntries, openJournal } from './environment.ts';

export interface LmdbStoreOptions extends StoreOptions {
  readonly directory: string;
}

/**
 * Opens, or creates, the store in `directory`. The directory belongs to this process until the store is closed and to
 * its owner alone: DirectoryInUseError when another process has it.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const unlock = await lockDirectory(directory);
  try {
    const loaded = await loadEntries(directory);
    const journal = await openJournal(directory);
    const close = async () => {
      await journal.close();
      await unlock();
    };
    return new RevisionedStore({ write: journal.write, close }, loaded, options);
  } catch (error) {
    await unlock();
    throw error;
  }
}
