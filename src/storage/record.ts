import type { Content, Entry } from './store.ts';

/**
 * A value as it lies in memory and on disk: a header with its revisions, then the bytes.
 * Each record has a buffer of its own: a view into Node's shared pool would keep eight kilobytes alive for every value.
 * The header sits right before the value, so that what goes to disk is the same memory, without another copy.
 */
const HEADER_BYTES = 16;

export function createEntry(key: string, revision: number, createRevision: number, content: Content): Entry {
  const isBytes = Buffer.isBuffer(content);
  const text = typeof content === 'string' ? content : isBytes ? '' : content.text;
  const bytes = typeof content === 'string' ? undefined : isBytes ? content : content.bytes;
  // Text goes straight to its place: a buffer in between would be thrown away at once.
  const length = Buffer.byteLength(text, 'utf8');
  const record = Buffer.allocUnsafeSlow(HEADER_BYTES + length + (bytes?.length ?? 0));
  record.writeDoubleLE(revision, 0);
  record.writeDoubleLE(createRevision, 8);
  // Nearly all text is ASCII, which takes no encoding.
  if (text !== '') record.write(text, HEADER_BYTES, length === text.length ? 'latin1' : 'utf8');
  if (bytes !== undefined) record.set(bytes, HEADER_BYTES + length);
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
