import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DATA_FILE, openJournal } from './environment.ts';
import { createIdentity } from './identity.ts';
import { expectRoom } from './room.ts';

/** What a new store takes before the first change. */
const NEW_STORE_BYTES = 256 * 1024;

/**
 * Makes the data file of a new store in a folder beside, and moves it to its place when it is complete and on disk: a
 * creation that is cut short leaves no file that would look damaged later.
 */
export async function createDataFile(directory: string): Promise<void> {
  const draft = join(directory, 'draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await expectRoom(join(draft, 'room'), NEW_STORE_BYTES);
  await (await openJournal(draft, { identity: createIdentity(0) })).close();
  await rename(join(draft, DATA_FILE), join(directory, DATA_FILE));
  await rm(draft, { recursive: true, force: true });
}
