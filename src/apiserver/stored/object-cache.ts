/**
 * Decoded objects beside the stored bytes. The bytes are what is served; objects are needed for selectors, patches and
 * tables only, so the number kept decoded is bounded and the oldest fall out first.
 */
import { asShared, shareParts } from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';
import { decodeParts, type ObjectParts, ReplicaDecoder, withoutManagedFields } from './decode.ts';
import { encodeManagedFields, parseManagedFields } from './managed-fields-text.ts';

/** What selectors look at; small enough to keep for every entry. */
export interface Digest {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** What is remembered of an entry: `object`, or `withoutManagedFields` with `managedFields`, or both, or nothing. */
class Memo {
  /** The whole object. */
  object: ApiObject | undefined;
  /** The object without managed fields. */
  withoutManagedFields: ApiObject | undefined;
  /** The managed fields as JSON text, where there are any; known only together with `withoutManagedFields`. */
  managedFields: string | undefined;
  /** The same as `withoutManagedFields`, for as long as someone else, such as an informer, holds it. */
  held: WeakRef<ApiObject> | undefined;
  digest: Digest | undefined;
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

export class ObjectCache {
  readonly #ring: (Memo | undefined)[];
  #next = 0;
  readonly #replicas = new ReplicaDecoder();
  /** The object of each kind that was decoded last. */
  readonly #decoded = new Map<string, ApiObject>();

  constructor(capacity = 2048) {
    this.#ring = Array.from({ length: capacity });
  }

  /**
   * The decoded object; shared, so never change it. It is not kept with its managed fields, as it is mostly read to be
   * replaced.
   */
  read(entry: StoredEntry): ApiObject {
    const memo = memoOf(entry);
    if (memo.object !== undefined) return memo.object;
    const { object, managedFields } = this.#parts(memo, entry);
    return withManagedFields(object, managedFields);
  }

  /**
   * The object without managed fields, which are half of a typical one: for who looks at every object once, or keeps
   * it. Costs half, and does not push others out of the cache. Shared as well.
   */
  readWithoutManagedFields(entry: StoredEntry): ApiObject {
    const memo = memoOf(entry);
    if (memo.withoutManagedFields !== undefined) return memo.withoutManagedFields;
    if (memo.object !== undefined) return (memo.withoutManagedFields = withoutManagedFields(memo.object));
    const held = memo.held?.deref();
    if (held !== undefined) return held;
    const object = asShared(this.#share(this.#replicas.decode(entry.value)));
    memo.held = new WeakRef(object);
    return object;
  }

  /** The same for who will soon ask again: it stays in the cache. */
  readOften(entry: StoredEntry): ApiObject {
    return this.readParts(entry).object;
  }

  /** The object for who only writes it again: without the managed fields, and these as JSON text where there are any. */
  readParts(entry: StoredEntry): ObjectParts {
    const memo = memoOf(entry);
    if (memo.object === undefined) return this.#parts(memo, entry);
    const { managedFields } = memo.object.metadata;
    if (managedFields === undefined) return { object: memo.object, managedFields };
    memo.managedFields ??= encodeManagedFields(managedFields);
    return {
      object: (memo.withoutManagedFields ??= withoutManagedFields(memo.object)),
      managedFields: memo.managedFields,
    };
  }

  /** Remembers an object that was just encoded into the entry. */
  keep(entry: StoredEntry, object: ApiObject): void {
    const memo = memoOf(entry);
    memo.object = asShared(object);
    memo.withoutManagedFields = undefined;
    memo.managedFields = undefined;
    this.#keep(memo);
  }

  /** Remembers an object encoded together with managed fields that it does not have itself; keeps it for itself. */
  keepWithoutManagedFields(entry: StoredEntry, object: ApiObject, managedFields: string): void {
    const memo = memoOf(entry);
    memo.object = undefined;
    memo.withoutManagedFields = asShared(object);
    memo.managedFields = managedFields;
    this.#keep(memo);
  }

  /** The parts of an entry whose whole object is not remembered. */
  #parts(memo: Memo, entry: StoredEntry): ObjectParts {
    if (memo.withoutManagedFields === undefined) {
      const { object, managedFields } = decodeParts(entry.value, memo.held?.deref());
      memo.withoutManagedFields = asShared(object);
      memo.managedFields = managedFields;
      this.#keep(memo);
    }
    return { object: memo.withoutManagedFields, managedFields: memo.managedFields };
  }

  digest(resource: Resource, entry: StoredEntry): Digest {
    const memo = memoOf(entry);
    if (memo.digest === undefined) {
      const object = memo.object ?? this.#parts(memo, entry).object;
      memo.digest = { labels: object.metadata.labels, fields: resource.strategy.fields?.(object) ?? NO_FIELDS };
    }
    return memo.digest;
  }

  /** Replicas stand side by side when a collection is read: what is the same in the one before is kept once. */
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
      if (dropped.withoutManagedFields !== undefined) dropped.held = new WeakRef(dropped.withoutManagedFields);
      dropped.object = undefined;
      dropped.withoutManagedFields = undefined;
      dropped.managedFields = undefined;
    }
    this.#ring[this.#next] = memo;
    this.#next = (this.#next + 1) % this.#ring.length;
  }
}

function memoOf(entry: StoredEntry): Memo {
  if (!(entry.memo instanceof Memo)) entry.memo = new Memo();
  return entry.memo as Memo;
}

export function withManagedFields(object: ApiObject, text: string | undefined): ApiObject {
  if (text === undefined) return object;
  const managedFields = parseManagedFields(text);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}
