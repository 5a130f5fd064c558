import { chmod, open as openFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { recordOf } from '../record.ts';
import type { Journal } from '../revisioned-store.ts';
import type { StoredEntry } from '../store.ts';
import { countFreePages } from './free-pages.ts';
import { formatIdentity, type StoreIdentity } from './identity.ts';
import { counterRecord } from './load.ts';
import { DiskFullError, mostPages, DiskRoom, sparePages } from './room.ts';

export const DATA_FILE = 'data.mdb';
const LOCK_FILE = 'lock.mdb';
const LOCK_BYTES = 16 * 1024;
const PAGE_BYTES = 4096;

interface Environment {
  readonly root: RootDatabase<Buffer, string>;
  readonly entries: Database<Buffer, string>;
  readonly meta: Database<Buffer, string>;
}

async function openEnvironment(directory: string): Promise<Environment> {
  await fillLockFile(join(directory, LOCK_FILE));
  const binary = { encoding: 'binary', cache: false } as const;
  const root = open<Buffer, string>({
    path: directory,
    // A folder whatever its name: LMDB takes a name with a dot for a file.
    noSubdir: false,
    // A commit writes every page it touches: larger ones would save a quarter of the disk, and cost a third of the rate
    // at which scattered writes are confirmed.
    pageSize: PAGE_BYTES,
    // A commit is on disk when it is done. Overlapping would win nothing: there is one batch at a time.
    overlappingSync: false,
    // Each batch is a transaction by itself. LMDB's own grouping by turn leaves a promise nobody can catch.
    eventTurnBatching: false,
    maxDbs: 4,
    ...binary,
  });
  const environment = { root, entries: root.openDB('entries', binary), meta: root.openDB('meta', binary) };
  await Promise.all([DATA_FILE, LOCK_FILE].map((file) => chmod(join(directory, file), 0o600)));
  return environment;
}

/** LMDB writes to this file through memory: a hole in it on a full disk would end the process. */
async function fillLockFile(path: string): Promise<void> {
  const file = await openFile(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    if (size < LOCK_BYTES) await file.appendFile(Buffer.alloc(LOCK_BYTES - size));
  } finally {
    await file.close();
  }
}

/**
 * Every page that a write touches stays mapped, and so resident, with its neighbours. A large file is mapped anew after
 * so many writes, which costs some milliseconds, so that not all of it becomes resident in the end.
 */
const WRITES_PER_MAPPING = 2000;
const LARGE_BYTES = 256 * 1024 * 1024;

export interface JournalOptions {
  readonly largeBytes?: number;
  /** Written before the journal is handed out, when the data file has none yet. */
  readonly identity?: StoreIdentity | undefined;
}

/** Writes batches with LMDB's asynchronous calls only: the synchronous ones would hold the event loop during fsync. */
export async function openJournal(directory: string, options: JournalOptions = {}): Promise<Journal> {
  const { identity, largeBytes = LARGE_BYTES } = options;
  const path = join(directory, DATA_FILE);
  let environment = await openEnvironment(directory);
  const lastPage = (): number => (environment.root.getStats() as { lastPageNumber: number }).lastPageNumber;
  const pageBytes = (environment.root.getStats() as { pageSize: number }).pageSize;
  const room = await DiskRoom.open(path, (lastPage() + 1) * pageBytes);
  let broken: Error | undefined;
  let written = 0;

  async function reserve({ count, largePages, puts }: Extent): Promise<void> {
    const last = lastPage();
    const needed = mostPages({ count, largePages }, last);
    const upTo = (pages: number): Promise<void> => room.reserve((last + 1 + pages) * pageBytes);
    try {
      await upTo(needed + (puts === 0 ? 0 : sparePages(last)));
    } catch (error) {
      // What was taken away inside the file is used again before the file grows.
      if (!(error instanceof DiskFullError) || puts === 0 || freeInside(path) < needed) throw error;
      await upTo(needed);
    }
  }

  async function commit(fn: () => void): Promise<void> {
    try {
      await environment.root.batch(fn);
    } catch (error) {
      // What LMDB has in memory, and what is on disk, may differ from now on: only a new process can tell.
      const cause = await commitFailure(error);
      broken = new Error(`the last write failed (${cause.message}); restart the server`, { cause });
      throw broken;
    }
  }

  async function mapAnew(): Promise<void> {
    if (written < WRITES_PER_MAPPING) return;
    written = 0;
    if ((await stat(path)).size <= largeBytes) return;
    await environment.root.close();
    environment = await openEnvironment(directory);
  }

  if (identity !== undefined) {
    await reserve(SMALL_WRITE);
    const { meta } = environment;
    await commit(() => void meta.put('identity', Buffer.from(formatIdentity(identity))));
  }
  return {
    async write(changes, revision) {
      if (broken !== undefined) throw broken;
      await reserve(extentOf(changes, pageBytes));
      await mapAnew();
      written += changes.size;
      const { entries, meta } = environment;
      await commit(() => {
        for (const [key, entry] of changes) {
          if (entry === undefined) void entries.remove(key);
          else void entries.put(key, recordOf(entry));
        }
        void meta.put('revision', counterRecord(revision));
      });
    },
    async check() {
      if (broken !== undefined) throw broken;
      await reserve(SMALL_WRITE);
    },
    async close() {
      await room.close();
      // After a failed write LMDB's memory is not sound (its error message is longer than the buffer it has for it), and
      // closing would trip over it. Everything acknowledged is on disk already.
      if (broken === undefined) await environment.root.close();
    },
  };
}

/** What a write asks of the file. */
interface Extent {
  readonly count: number;
  readonly puts: number;
  readonly largePages: number;
}

const SMALL_WRITE: Extent = { count: 8, puts: 8, largePages: 8 };

function extentOf(changes: ReadonlyMap<string, StoredEntry | undefined>, pageBytes: number): Extent {
  let largePages = 0;
  let puts = 0;
  for (const entry of changes.values()) {
    if (entry === undefined) continue;
    puts += 1;
    largePages += Math.floor(entry.value.length / pageBytes) + 2;
  }
  return { count: changes.size, puts, largePages };
}

/** None while a commit is under way and the file cannot be read. */
function freeInside(path: string): number {
  try {
    return countFreePages(path);
  } catch {
    return 0;
  }
}

/** LMDB gives the cause in a second promise, which ends the process if nobody looks at it. */
async function commitFailure(error: unknown): Promise<Error> {
  const pending = (error as { commitError?: Promise<never> }).commitError;
  const own = error instanceof Error ? error : new Error(String(error));
  if (pending === undefined) return own;
  const patience = new Promise<Error>((resolve) => setTimeout(resolve, 1000, own).unref());
  const cause = await Promise.race([pending.catch((failure: unknown) => failure as Error), patience]);
  // LMDB adds which of its pages and buffers it was about: nothing that anybody could use.
  return new Error(cause.message.replace(/: Attempting to write page.*$/s, ''), { cause });
}
