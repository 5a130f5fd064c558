import { crc32 } from 'node:zlib';
import type { Content, StoredEntry } from './store.ts';

/**
 * A value as it lies in memory and on disk: a header with its revisions and a checksum, then the bytes.
 * Each record has a buffer of its own: a view into Node's shared pool would keep eight kilobytes alive for every value.
 * The header sits right before the value, so that what goes to disk is the same memory, without another copy.
 */
const HEADER_BYTES = 20;
const CHECKSUM_AT = 16;
/** Records of earlier versions have no checksum. A revision is positive there, and has its sign turned here. */
const OLD_HEADER_BYTES = 16;

export function createEntry(key: string, revision: number, createRevision: number, content: Content): StoredEntry {
  const length = Buffer.byteLength(content, 'utf8');
  const record = Buffer.allocUnsafeSlow(HEADER_BYTES + length);
  record.writeDoubleLE(-revision, 0);
  record.writeDoubleLE(createRevision, 8);
  // Text goes straight to its place: a buffer in between would be thrown away at once. Nearly all of it is ASCII.
  if (typeof content !== 'string') record.set(content, HEADER_BYTES);
  else record.write(content, HEADER_BYTES, length === content.length ? 'latin1' : 'utf8');
  return { key, value: record.subarray(HEADER_BYTES), revision, createRevision };
}

/** The bytes to persist for an entry made by this module. */
export function recordOf(entry: StoredEntry): Buffer {
  const record = Buffer.from(entry.value.buffer);
  record.writeUInt32LE(checksum(entry, entry.value), CHECKSUM_AT);
  return record;
}

/** Throws when the bytes are not those that were written under this key. After `oldUpTo` all have a checksum. */
export function parseEntry(key: string, record: Buffer, oldUpTo = 0): StoredEntry {
  const noted = record.length < OLD_HEADER_BYTES ? Number.NaN : record.readDoubleLE(0);
  const revision = Math.abs(noted);
  const createRevision = record.length < OLD_HEADER_BYTES ? Number.NaN : record.readDoubleLE(8);
  const value = record.subarray(noted < 0 ? HEADER_BYTES : OLD_HEADER_BYTES);
  const sane = Number.isSafeInteger(revision) && Number.isSafeInteger(createRevision) && createRevision <= revision;
  const intact =
    noted > 0
      ? revision <= oldUpTo
      : record.length >= HEADER_BYTES && isIntact({ key, revision, createRevision }, record);
  if (!sane || createRevision < 1 || !intact) throw new Error(`the record of "${key}" is not as it was written`);
  return createEntry(key, revision, createRevision, value);
}

function isIntact(entry: Omit<StoredEntry, 'value'>, record: Buffer): boolean {
  return record.readUInt32LE(CHECKSUM_AT) === checksum(entry, record.subarray(HEADER_BYTES));
}

function checksum({ createRevision, key, revision }: Omit<StoredEntry, 'value'>, value: Buffer): number {
  return crc32(value, crc32(`${revision} ${createRevision} ${key}`));
}
