/** Objects from stored bytes, with as little parsing as their reader needs. */
import { setOwn } from '../../machinery/values/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { encodeManagedFields } from './managed-fields-text.ts';

/** An object in the two parts that it is written in. */
export interface ObjectParts {
  readonly object: ApiObject;
  readonly managedFields: string | undefined;
}

/** Decodes the managed fields not at all, and the rest only where it is not `known` already. */
export function decodeParts(bytes: Buffer, known?: ApiObject): ObjectParts {
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

/**
 * For who decodes a collection in order, without managed fields: replicas stand side by side and are the same behind
 * their metadata, most of each. What has the bytes of the one before is shared with it instead of being parsed again.
 */
export class ReplicaDecoder {
  #last: { readonly tail: Buffer; readonly object: ApiObject } | undefined;

  decode(bytes: Buffer): ApiObject {
    const at = bytes.indexOf(SPEC_MEMBER);
    if (at < 0) return decodeParts(bytes).object;
    const tail = bytes.subarray(at);
    if (this.#last?.tail.equals(tail) === true) {
      const replica = headOf(bytes, at);
      if (replica !== undefined) {
        const { object } = this.#last;
        for (const key in object) if (!Object.hasOwn(replica, key)) setOwn(replica, key, object[key]);
        return replica;
      }
    }
    const { object } = decodeParts(bytes);
    this.#last = { tail, object };
    return object;
  }
}

/** The members before `end`; undefined where that is not between two members of the document itself. */
function headOf(bytes: Buffer, end: number): ApiObject | undefined {
  const cut = findManagedFields(bytes);
  if (cut === undefined || cut.to > end) return undefined;
  try {
    // Anywhere deeper, one brace does not close the document.
    return JSON.parse(`${bytes.toString('utf8', 0, cut.from)}${bytes.toString('utf8', cut.to, end)}}`) as ApiObject;
  } catch {
    return undefined;
  }
}

export function withoutManagedFields(object: ApiObject): ApiObject {
  const { metadata } = object;
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

const SPEC_MEMBER = Buffer.from(',"spec":');
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
