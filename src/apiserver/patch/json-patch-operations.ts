/**
 * The six operations of a JSON patch on a document that may be changed. They behave as the library of the real server
 * does where RFC 6902 leaves room: a replaced member need not exist, and a negative index counts from the end.
 */
import { deepClone, isObject, type JsonObject, setOwn } from '../../machinery/values/index.ts';
import { PatchError, REJECTED } from './patch-error.ts';
import type { PatchWork } from './patch-work.ts';

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path?: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface PatchedDocument {
  root: unknown;
}

type Apply = (document: PatchedDocument, operation: PatchOperation, work: PatchWork) => void;

/** A member or item and what holds it. */
type Place = { readonly map: JsonObject; readonly key: string } | { readonly list: unknown[]; readonly key: string };

const rejected = (why: string): PatchError => new PatchError('Invalid', `${REJECTED}: ${why}`);

const valueOf = ({ value }: PatchOperation): unknown => (value === undefined ? null : deepClone(value));

/** The place that a JSON pointer names; undefined when what should hold it is not there. */
function find({ root }: PatchedDocument, pointer: string): Place | undefined {
  const steps = pointer.split('/');
  if (steps.length < 2) return undefined;
  let holder: unknown = root;
  for (let at = 1; at < steps.length - 1; at++) holder = memberOf(holder, unescaped(steps[at] as string));
  const key = unescaped(steps.at(-1) as string);
  if (Array.isArray(holder)) return { list: holder, key };
  return isObject(holder) ? { map: holder, key } : undefined;
}

const unescaped = (step: string): string =>
  step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;

function memberOf(holder: unknown, key: string): unknown {
  if (Array.isArray(holder)) return holder[indexOf(key, holder.length) ?? -1];
  return isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
}

/** Undefined when the key is no index below `length`. */
function indexOf(key: string, length: number): number | undefined {
  if (!/^-?\d{1,15}$/.test(key)) return undefined;
  const index = Number(key) < 0 ? Number(key) + length : Number(key);
  return index >= 0 && index < length ? index : undefined;
}

function placeOf(document: PatchedDocument, op: string, pointer: string | undefined, what = 'path'): Place {
  if (pointer === undefined) throw rejected(`${op} operation failed to decode ${what.split(' ')[0]}: missing value`);
  const place = find(document, pointer);
  if (place === undefined) {
    throw rejected(`${op} operation does not apply: doc is missing ${what}: ${JSON.stringify(pointer)}: missing value`);
  }
  return place;
}

function itemIndex(list: readonly unknown[], key: string, length = list.length): number {
  const index = indexOf(key, length);
  if (index === undefined) throw rejected(`Unable to access invalid index: ${key}: invalid index referenced`);
  return index;
}

function get(place: Place): unknown {
  if ('list' in place) return place.list[itemIndex(place.list, place.key)];
  return Object.hasOwn(place.map, place.key) ? place.map[place.key] : undefined;
}

function put(place: Place, value: unknown, work: PatchWork): void {
  if ('map' in place) {
    setOwn(place.map, place.key, value);
    return;
  }
  const { key, list } = place;
  const index = key === '-' ? list.length : itemIndex(list, key, list.length + 1);
  work.shift(list.length - index);
  list.splice(index, 0, value);
}

function take(place: Place, op: string, work: PatchWork): unknown {
  const value = get(place);
  if ('list' in place) {
    const index = itemIndex(place.list, place.key);
    work.shift(place.list.length - index);
    place.list.splice(index, 1);
    return value;
  }
  if (!Object.hasOwn(place.map, place.key)) {
    throw rejected(
      `error in ${op} for path: ${JSON.stringify(place.key)}: Unable to remove nonexistent key: ${place.key}: missing value`,
    );
  }
  delete place.map[place.key];
  return value;
}

export const OPERATIONS: Readonly<Record<PatchOperation['op'], Apply>> = {
  add(document, operation, work) {
    put(placeOf(document, 'add', operation.path), valueOf(operation), work);
  },
  remove(document, { path }, work) {
    take(placeOf(document, 'remove', path), 'remove', work);
  },
  replace(document, operation) {
    if (operation.path === '') {
      document.root = valueOf(operation);
      return;
    }
    const place = placeOf(document, 'replace', operation.path);
    if ('list' in place) place.list[itemIndex(place.list, place.key)] = valueOf(operation);
    else setOwn(place.map, place.key, valueOf(operation));
  },
  /** The value itself goes to its new place, without a copy. Into itself it cannot: that place went with it. */
  move(document, { from, path }, work) {
    const value = take(placeOf(document, 'move', from, 'from path'), 'move', work);
    put(placeOf(document, 'move', path, 'destination path'), value, work);
  },
  copy(document, { from, path }, work) {
    const value = get(placeOf(document, 'copy', from, 'from path'));
    const place = placeOf(document, 'copy', path, 'destination path');
    put(place, work.copyOf(value ?? null), work);
  },
  test(document, operation, work) {
    const { path } = operation;
    const found = path === '' ? document.root : get(placeOf(document, 'test', path));
    if (!work.areEqual(found ?? null, operation.value ?? null)) {
      throw rejected(`testing value ${path} failed: test failed`);
    }
  },
};
