import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RevisionedStore, type StoreOptions } from '../revisioned-store.ts';
import type { Store } from '../store.ts';
import { createDataFile } from './create.ts';
import { StoreDamagedError } from './damage.ts';
import { lockDirectory } from './directory-lock.ts';
import { DATA_FILE, openJournal } from './environment.ts';
import { createIdentity, formatIdentity, readIdentityFile, writeIdentityFile } from './identity.ts';
import { loadFile } from './load.ts';

export interface LmdbStoreOptions extends StoreOptions {
  readonly directory: string;
  /** A file or folder that is only ever made after the store: where it is, the store has been as well. */
  readonly companion?: string | undefined;
}

/**
 * Opens, or creates, the store in `directory`. The directory belongs to this process until the store is closed and to
 * its owner alone: DirectoryInUseError when another process has it, StoreDamagedError when what is there is not what
 * a store has written.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { companion, directory } = options;
  const path = join(directory, DATA_FILE);
  if (companion !== undefined && existsSync(companion) && !existsSync(path)) {
    throw new StoreDamagedError(path, 'the file is missing, although other files show that there was one');
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const unlock = await lockDirectory(directory);
  try {
    const marker = readIdentityFile(directory);
    const hasBeen = marker !== undefined || (companion !== undefined && existsSync(companion));
    if (!hasBeen && !existsSync(path)) await createDataFile(directory);
    const loaded = loadFile(path);
    const found = loaded.identity && formatIdentity(loaded.identity);
    if (marker !== undefined && marker !== found) {
      throw new StoreDamagedError(path, 'it is not the data file that identity.json beside it was written for');
    }
    const identity = loaded.identity ?? createIdentity(loaded.revision);
    const journal = await openJournal(directory, found === undefined ? { identity } : {});
    if (marker === undefined) await writeIdentityFile(directory, identity);
    const close = async () => {
      await journal.close();
      await unlock();
    };
    return new RevisionedStore({ ...journal, close }, loaded, options);
  } catch (error) {
    await unlock();
    throw error;
  }
}
