import { existsSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { parseEntry } from '../record.ts';
import type { StoredEntry } from '../store.ts';
import { StoreDamagedError } from './damage.ts';
import { freePages } from './free-pages.ts';
import { type StoreIdentity, parseIdentity } from './identity.ts';
import { PageFile, readMeta, readTree, type Tree } from './page-file.ts';
import { TreeWalker } from './tree-walk.ts';

export interface LoadedRecords {
  readonly entries: StoredEntry[];
  readonly revision: number;
  /** Absent in a store that an older version made. */
  readonly identity?: StoreIdentity | undefined;
}

const COUNTER_BYTES = 8;

/** The newest revision as it lies on disk, with a checksum. */
export function counterRecord(revision: number): Buffer {
  const record = Buffer.alloc(COUNTER_BYTES + 4);
  record.writeDoubleLE(revision);
  record.writeUInt32LE(crc32(record.subarray(0, COUNTER_BYTES)), COUNTER_BYTES);
  return record;
}

/**
 * Reads everything into memory of our own, without LMDB: it would map the file, and trust it. A file that is not in
 * every part as it was written is refused with a StoreDamagedError.
 */
export function loadFile(path: string): LoadedRecords {
  const file = openFile(path);
  try {
    return load(file);
  } catch (error) {
    if (error instanceof StoreDamagedError) throw error;
    throw new StoreDamagedError(path, (error as Error).message, { cause: error });
  } finally {
    file.close();
  }
}

function openFile(path: string): PageFile {
  if (!existsSync(path))
    throw new StoreDamagedError(path, 'the file is missing, although other files show that there was one');
  try {
    return new PageFile(path);
  } catch (error) {
    throw new StoreDamagedError(path, `it cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

function load(file: PageFile): LoadedRecords {
  if (file.size === 0) throw file.damaged('the file is empty, although it has held data');
  file.readAhead();
  const meta = readMeta(file);
  const walker = new TreeWalker(file, meta);
  const trees = new Map<string, Tree>();
  walker.expectRootOfLastCommit(meta.main);
  walker.walk(meta.main, ({ isTree, key, value }) => {
    if (!isTree) throw file.damaged('its list of trees holds something else');
    trees.set(key.toString().replace(/\0$/, ''), readTree(file, value));
  });
  const notes = new Map<string, Buffer>();
  walkNamed(trees, 'meta', walker, (key, value) => notes.set(key, Buffer.from(value)));
  const identity = parseIdentity(notes.get('identity')?.toString());
  const oldUpTo = identity?.oldUpTo ?? Number.MAX_SAFE_INTEGER;
  const entries: StoredEntry[] = [];
  walkNamed(trees, 'entries', walker, (key, value) => entries.push(parseEntry(key, value, oldUpTo)));
  // A page that is free and in use as well would be written over.
  for (const [first, count] of freePages(file, walker, meta.free)) walker.claim(first, count);

  const revision = readCounter(file, notes.get('revision'));
  const newest = entries.reduce((max, entry) => Math.max(max, entry.revision), 0);
  if (newest > revision) throw file.damaged(`it holds revision ${newest}, and says that ${revision} is the newest`);
  // LMDB orders by bytes, the store by UTF-16.
  return { entries: entries.sort((a, b) => (a.key < b.key ? -1 : 1)), revision, identity };
}

function walkNamed(
  trees: ReadonlyMap<string, Tree>,
  name: string,
  walker: TreeWalker,
  visit: (key: string, value: Buffer) => void,
): void {
  const tree = trees.get(name);
  if (tree !== undefined) walker.walk(tree, ({ key, value }) => visit(decodeKey(key), value));
}

function readCounter(file: PageFile, record: Buffer | undefined): number {
  if (record === undefined) return 0;
  const intact =
    record.length === COUNTER_BYTES ||
    (record.length === COUNTER_BYTES + 4 &&
      record.readUInt32LE(COUNTER_BYTES) === crc32(record.subarray(0, COUNTER_BYTES)));
  const revision = intact ? record.readDoubleLE(0) : -1;
  if (!Number.isSafeInteger(revision) || revision < 0) throw file.damaged('its newest revision cannot be read');
  return revision;
}

/** Keys that start with a control character, or have one of the first five, are written with another before it. */
function decodeKey(bytes: Buffer): string {
  const text = (bytes[0] === 27 ? bytes.subarray(1) : bytes).toString();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are.
  return text.includes('\u0004') ? text.replace(/\u0004([\0-\u0004])/g, '$1') : text;
}
