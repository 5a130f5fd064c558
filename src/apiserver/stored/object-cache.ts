/**
 * Decoded objects beside the stored bytes. The bytes are what is served; objects are needed for selectors, patches and
 * tables only, so the number kept decoded is bounded and the oldest fall out first.
 */
import type { Entry } from '../../storage/index.ts';
import type { ApiObject, ManagedFieldsEntry } from '../object.ts';
import type { ResourceRow } from '../registry/row.ts';

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

class Memo {
  /** The whole object. */
  object: ApiObject | undefined;
  /** The object without managed fields. */
  lean: ApiObject | undefined;
  /** The same for as long as someone else, such as an informer, holds it. */
  held: WeakRef<ApiObject> | undefined;
  /** The managed fields as JSON text, while only `lean` is there. */
  managedFields: string | undefined;
  digest: Digest | undefined;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

export class ObjectCache {
  readonly #ring: (Memo | undefined)[];
  #next = 0;

  constructor(capacity = 2048) {
    this.#ring = Array.from({ length: capacity });
  }

  /** The decoded object; shared, so never change it. */
  read(entry: Entry): ApiObject {
    const memo = memoOf(entry);
    if (memo.object !== undefined) return memo.object;
    if (memo.lean !== undefined) {
      memo.object = withManagedFields(memo.lean, memo.managedFields);
    } else {
      memo.object = JSON.parse(entry.value.toString('utf8')) as ApiObject;
      this.#keep(memo);
    }
    return memo.object;
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
    const lean = withoutManagedFields(JSON.parse(cutManagedFields(entry.value.toString('utf8'))) as ApiObject);
    memo.held = new WeakRef(lean);
    return lean;
  }

  /** The object for who only writes it again: without the managed fields, and these as JSON text where there are any. */
  readParts(entry: Entry): ObjectParts {
    const { memo } = entry;
    if (memo instanceof Memo && memo.lean !== undefined && memo.managedFields !== undefined) {
      return { object: memo.lean, managedFields: memo.managedFields };
    }
    const object = this.read(entry);
    const { managedFields } = object.metadata;
    if (managedFields === undefined) return { object, managedFields };
    return { object: withoutManagedFields(object), managedFields: JSON.stringify(managedFields) };
  }

  /** Remembers an object that was just encoded into the entry. */
  keep(entry: Entry, object: ApiObject): void {
    const memo = memoOf(entry);
    memo.object = object;
    memo.lean = undefined;
    this.#keep(memo);
  }

  /** Remembers an object encoded together with managed fields that it does not have itself. */
  keepLean(entry: Entry, lean: ApiObject, managedFields: string): void {
    const memo = memoOf(entry);
    memo.object = undefined;
    memo.lean = lean;
    memo.managedFields = managedFields;
    this.#keep(memo);
  }

  digest(row: ResourceRow, entry: Entry): Digest {
    const memo = memoOf(entry);
    if (memo.digest === undefined) {
      const object = memo.lean ?? this.read(entry);
      memo.digest = { labels: object.metadata.labels, fields: row.strategy.fields?.(object) ?? NO_FIELDS };
    }
    return memo.digest;
  }

  #keep(memo: Memo): void {
    const dropped = this.#ring[this.#next];
    if (dropped !== undefined) {
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

/** Few ever look at managed fields, so those of a new object are decoded when someone does. */
export function withManagedFields(object: ApiObject, text: string | undefined): ApiObject {
  if (text === undefined) return object;
  let decoded: ManagedFieldsEntry[] | undefined;
  const metadata = {
    ...object.metadata,
    get managedFields(): ManagedFieldsEntry[] {
      decoded ??= JSON.parse(text) as ManagedFieldsEntry[];
      return decoded;
    },
  };
  return { ...object, metadata };
}

function withoutManagedFields(object: ApiObject): ApiObject {
  const { metadata } = object;
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

const MANAGED_FIELDS = '"managedFields":[';

/**
 * The text with the first list of that name emptied. Should that be another field of an unusual object, its reader
 * would miss it; so only texts whose metadata comes before everything else that may hold such a field are cut.
 */
function cutManagedFields(text: string): string {
  const start = text.indexOf(MANAGED_FIELDS);
  if (start < 0 || text.indexOf('"spec":') < start || text.indexOf('"status":') < start) return text;
  const from = start + MANAGED_FIELDS.length;
  let depth = 1;
  for (let at = from; at >= from && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b) depth++;
    else if (code === 0x5d && --depth === 0) return text.slice(0, from) + text.slice(at);
  }
  return text;
}

/** Where the string that opens at `at` closes; before its start when it does not. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
