import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { parseEntry, recordOf } from '../record.ts';
import type { Journal } from '../revisioned-store.ts';
import type { Entry } from '../store.ts';

const REVISION_KEY = 'revision';

interface Environment {
  readonly root: RootDatabase<Buffer, string>;
  readonly entries: Database<Buffer, string>;
  readonly meta: Database<Buffer, string>;
}

async function openEnvironment(directory: string): Promise<Environment> {
  const binary = { encoding: 'binary', cache: false } as const;
  const root = open<Buffer, string>({
    path: directory,
    // A folder whatever its name: LMDB takes a name with a dot for a file.
    noSubdir: false,
    // A commit writes every page it touches: larger ones would save a quarter of the disk, and cost a third of the rate
    // at which scattered writes are confirmed.
    pageSize: 4096,
    // A commit is on disk when it is done. Overlapping would win nothing: there is one batch at a time.
    overlappingSync: false,
    // Each batch is a transaction by itself. LMDB's own grouping by turn leaves a promise nobody can catch.
    eventTurnBatching: false,
    maxDbs: 4,
    ...binary,
  });
  const environment = { root, entries: root.openDB('entries', binary), meta: root.openDB('meta', binary) };
  await Promise.all(['data.mdb', 'lock.mdb'].map((file) => chmod(join(directory, file), 0o600)));
  return environment;
}

/** Reads everything into memory of our own and closes again, so that the mapped pages do not stay resident. */
export async function loadEntries(directory: string): Promise<{ entries: Entry[]; revision: number }> {
  const { root, entries, meta } = await openEnvironment(directory);
  try {
    const loaded: Entry[] = [];
    for (const { key, value } of entries.getRange({ snapshot: true })) loaded.push(parseEntry(key, value));
    const revision = meta.get(REVISION_KEY)?.readDoubleLE(0) ?? 0;
    return { entries: loaded.sort((a, b) => (a.key < b.key ? -1 : 1)), revision };
  } finally {
    await root.close();
  }
}

/**
 * Every page that a write touches stays mapped, and so resident, with its neighbours. A large file is mapped anew after
 * so many writes, which costs some milliseconds, so that not all of it becomes resident in the end.
 */
const WRITES_PER_MAPPING = 2000;
const LARGE_BYTES = 256 * 1024 * 1024;

async function sizeOf(directory: string): Promise<number> {
  return (await stat(join(directory, 'data.mdb'))).size;
}

/** Writes batches with LMDB's asynchronous calls only: the synchronous ones would hold the event loop during fsync. */
export async function openJournal(directory: string, { largeBytes = LARGE_BYTES } = {}): Promise<Journal> {
  let environment = await openEnvironment(directory);
  /** To be opened anew before the next write. */
  let stale = false;
  let written = 0;

  return {
    async write(changes, revision) {
      if (written >= WRITES_PER_MAPPING) {
        written = 0;
        stale ||= (await sizeOf(directory)) > largeBytes;
      }
      if (stale) {
        // LMDB refuses everything after some failures; a fresh environment sees the last good commit.
        await environment.root.close().catch(() => undefined);
        environment = await openEnvironment(directory);
        stale = false;
      }
      written += changes.size;
      const { root, entries, meta } = environment;
      const counter = Buffer.alloc(8);
      counter.writeDoubleLE(revision);
      try {
        await root.batch(() => {
          for (const [key, entry] of changes) {
            if (entry === undefined) void entries.remove(key);
            else void entries.put(key, recordOf(entry));
          }
          void meta.put(REVISION_KEY, counter);
        });
      } catch (error) {
        stale = true;
        throw await commitFailure(error);
      }
    },
    close: () => environment.root.close(),
  };
}

/** LMDB gives the cause in a second promise, which ends the process if nobody looks at it. */
async function commitFailure(error: unknown): Promise<unknown> {
  const pending = (error as { commitError?: Promise<never> }).commitError;
  if (pending === undefined) return error;
  const patience = new Promise<unknown>((resolve) => setTimeout(resolve, 1000, error).unref());
  return Promise.race([pending.catch((cause: unknown) => cause), patience]);
}
