/**
 * Decoded objects beside the stored bytes. The bytes are what is served; objects are needed for selectors, patches and
 * tables only, so the number kept decoded is bounded and the oldest fall out first.
 */
import { shareParts } from '../../machinery/values/index.ts';
import type { Entry } from '../../storage/index.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceRow } from '../registry/row.ts';
import { encodeManagedFields, parseManagedFields } from './managed-fields-text.ts';

/** What selectors look at; small enough to keep for every entry. */
export interface Digest {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** An object in the two parts that it is written in. */
export interface ObjectParts {
  readonly object: ApiObject;
  readonly managedFields: string | undefined;
}

/** What is remembered of an entry: `object`, or `lean` with `managedFields`, or both, or nothing. */
class Memo {
  /** The whole object. */
  object: ApiObject | undefined;
  /** The object without managed fields. */
  lean: ApiObject | undefined;
  /** The managed fields as JSON text, where there are any; known only together with `lean`. */
  managedFields: string | undefined;
  /** The same as `lean`, for as long as someone else, such as an informer, holds it. */
  held: WeakRef<ApiObject> | undefined;
  digest: Digest | undefined;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

export class ObjectCache {
  readonly #ring: (Memo | undefined)[];
  #next = 0;
  /** The object of each kind that was decoded last. */
  readonly #decoded = new Map<string, ApiObject>();
  /** The object of each kind that was made last. */
  readonly #made = new WeakMap<ResourceRow, ApiObject>();

  constructor(capacity = 2048) {
    this.#ring = Array.from({ length: capacity });
  }

  /**
   * The decoded object; shared, so never change it. It is not kept with its managed fields, as it is mostly read to be
   * replaced.
   */
  read(entry: Entry): ApiObject {
    const memo = memoOf(entry);
    if (memo.object !== undefined) return memo.object;
    const { object, managedFields } = this.#parts(memo, entry);
    return withManagedFields(object, managedFields);
  }

  /**
   * The object without managed fields, which are half of a typical one: for who looks at every object once, or keeps
   * it. Costs half, and does not push others out of the cache. Shared as well.
   */
  readLean(entry: Entry): ApiObject {
    const memo = memoOf(entry);
    if (memo.lean !== undefined) return memo.lean;
    if (memo.object !== undefined) return (memo.lean = withoutManagedFields(memo.object));
    const held = memo.held?.deref();
    if (held !== undefined) return held;
    const object = this.#share(decode(entry.value).object);
    memo.held = new WeakRef(object);
    return object;
  }

  /** The same for who will soon ask again: it stays in the cache. */
  readOften(entry: Entry): ApiObject {
    return this.readParts(entry).object;
  }

  /** The object for who only writes it again: without the managed fields, and these as JSON text where there are any. */
  readParts(entry: Entry): ObjectParts {
    const memo = memoOf(entry);
    if (memo.object === undefined) return this.#parts(memo, entry);
    const { managedFields } = memo.object.metadata;
    if (managedFields === undefined) return { object: memo.object, managedFields };
    memo.managedFields ??= encodeManagedFields(managedFields);
    return { object: (memo.lean ??= withoutManagedFields(memo.object)), managedFields: memo.managedFields };
  }

  /** Remembers an object that was just encoded into the entry. */
  keep(entry: Entry, object: ApiObject): void {
    const memo = memoOf(entry);
    memo.object = object;
    memo.lean = undefined;
    memo.managedFields = undefined;
    this.#keep(memo);
  }

  /** Remembers an object encoded together with managed fields that it does not have itself; keeps it for itself. */
  keepLean(entry: Entry, lean: ApiObject, managedFields: string): void {
    const memo = memoOf(entry);
    memo.object = undefined;
    memo.lean = lean;
    memo.managedFields = managedFields;
    this.#keep(memo);
  }

  /** The parts of an entry whose whole object is not remembered. */
  #parts(memo: Memo, entry: Entry): ObjectParts {
    if (memo.lean === undefined) {
      const { object, managedFields } = decode(entry.value, memo.held?.deref());
      memo.lean = object;
      memo.managedFields = managedFields;
      this.#keep(memo);
    }
    return { object: memo.lean, managedFields: memo.managedFields };
  }

  digest(row: ResourceRow, entry: Entry): Digest {
    const memo = memoOf(entry);
    if (memo.digest === undefined) {
      const object = memo.object ?? this.#parts(memo, entry).object;
      memo.digest = { labels: object.metadata.labels, fields: row.strategy.fields?.(object) ?? NO_FIELDS };
    }
    return memo.digest;
  }

  /**
   * Objects are made by the thousand, and the one before is often a replica: lets a new one have in common with it what
   * is the same, and answers with it. The new one's parts must not be changed any more.
   */
  shareWithLast(row: ResourceRow, object: ApiObject): ApiObject | undefined {
    const last = this.#made.get(row);
    if (last !== undefined) shareParts(object, last);
    return last;
  }

  /** The object was checked and written, and is what the next one is compared with. */
  made(row: ResourceRow, object: ApiObject): void {
    this.#made.set(row, object);
  }

  /** The same for what is decoded, in the order of names. */
  #share(object: ApiObject): ApiObject {
    const kind = object.kind ?? '';
    const last = this.#decoded.get(kind);
    this.#decoded.set(kind, object);
    return last === undefined ? object : shareParts(object, last);
  }

  #keep(memo: Memo): void {
    const dropped = this.#ring[this.#next];
    if (dropped !== undefined) {
      // Who still holds it shares it with whoever reads it next.
      if (dropped.lean !== undefined) dropped.held = new WeakRef(dropped.lean);
      dropped.object = undefined;
      dropped.lean = undefined;
      dropped.managedFields = undefined;
    }
    this.#ring[this.#next] = memo;
    this.#next = (this.#next + 1) % this.#ring.length;
  }
}

function memoOf(entry: Entry): Memo {
  if (!(entry.memo instanceof Memo)) entry.memo = new Memo();
  return entry.memo as Memo;
}

export function withManagedFields(object: ApiObject, text: string | undefined): ApiObject {
  if (text === undefined) return object;
  const managedFields = parseManagedFields(text);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function withoutManagedFields(object: ApiObject): ApiObject {
  const { metadata } = object;
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** Decodes the managed fields not at all, and the rest only where it is not `known` already. */
function decode(bytes: Buffer, known?: ApiObject): ObjectParts {
  const cut = findManagedFields(bytes);
  if (cut !== undefined) {
    // Each a string of its own: a part of a string would keep the whole of it in memory.
    const managedFields = bytes.toString('utf8', cut.list, cut.end);
    if (known !== undefined) return { object: known, managedFields };
    const rest = bytes.toString('utf8', 0, cut.from) + bytes.toString('utf8', cut.to);
    return { object: JSON.parse(rest) as ApiObject, managedFields };
  }
  // What is known has no managed fields, whether or not the document has.
  const whole = JSON.parse(bytes.toString('utf8')) as ApiObject;
  const { managedFields } = whole.metadata;
  const object = known ?? withoutManagedFields(whole);
  return { object, managedFields: managedFields && encodeManagedFields(managedFields) };
}

const MANAGED_FIELDS = Buffer.from('"managedFields":[');
const SPEC = Buffer.from('"spec":');
const STATUS = Buffer.from('"status":');
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Where the first list of that name stands, and what to leave out so that the rest is a document without it. Should that
 * be another field of an unusual object, its reader would miss it; so only documents whose metadata comes before
 * everything else that may hold such a field are cut.
 */
function findManagedFields(bytes: Buffer): { list: number; end: number; from: number; to: number } | undefined {
  const start = bytes.indexOf(MANAGED_FIELDS);
  if (start < 0) return undefined;
  const before = bytes.subarray(0, start);
  if (before.includes(SPEC) || before.includes(STATUS)) return undefined;
  const list = start + MANAGED_FIELDS.length - 1;
  const end = endOfList(bytes, list);
  if (end < 0) return undefined;
  // One of the two commas beside it goes along.
  if (bytes[end] === COMMA) return { list, end, from: start, to: end + 1 };
  return { list, end, from: bytes[start - 1] === COMMA ? start - 1 : start, to: end };
}

/** Right behind the list that opens at `from`; negative when it does not close. */
function endOfList(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfString(bytes, at);
    else if (code === 0x5b) depth++;
    else if (code === 0x5d && --depth === 0) return at + 1;
  }
  return -1;
}

/** Where the string that opens at `at` closes. */
function endOfString(bytes: Buffer, at: number): number {
  let end = at + 1;
  for (; end < bytes.length && bytes[end] !== QUOTE; end++) if (bytes[end] === BACKSLASH) end++;
  return end;
}
