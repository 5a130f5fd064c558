import type { Entry } from './store.ts';

/**
 * A value as it lies in memory and on disk: a header with its revisions, then the bytes.
 * Each record has a buffer of its own: a view into Node's shared pool would keep eight kilobytes alive for every value.
 * The header sits right before the value, so that what goes to disk is the same memory, without another copy.
 */
const HEADER_BYTES = 16;

export function createEntry(key: string, revision: number, createRevision: number, content: Buffer | string): Entry {
  // Text goes straight to its place: a buffer in between would be thrown away at once.
  const length = typeof content === 'string' ? Buffer.byteLength(content, 'utf8') : content.length;
  const record = Buffer.allocUnsafeSlow(HEADER_BYTES + length);
  record.writeDoubleLE(revision, 0);
  record.writeDoubleLE(createRevision, 8);
  // Nearly all text is ASCII, which takes no encoding.
  if (typeof content === 'string') record.write(content, HEADER_BYTES, length === content.length ? 'latin1' : 'utf8');
  else content.copy(record, HEADER_BYTES);
  return { key, value: record.subarray(HEADER_BYTES), revision, createRevision };
}

/** The bytes to persist for an entry made by this module. */
export function recordOf(entry: Entry): Buffer {
  return Buffer.from(entry.value.buffer);
}

export function parseEntry(key: string, record: Buffer): Entry {
  if (record.length < HEADER_BYTES) throw new Error(`Cannot read record "${key}": ${record.length} bytes is too short`);
  return createEntry(key, record.readDoubleLE(0), record.readDoubleLE(8), record.subarray(HEADER_BYTES));
}
