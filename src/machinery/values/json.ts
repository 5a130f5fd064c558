/** A plain JSON value, as it travels on the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Copies plain JSON data; several times faster than structuredClone because it knows there is nothing else.
 * Here and below `for…in` instead of lists of keys: these run on every write, and each list would be garbage.
 */
export function deepClone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(deepClone) as T;
  const copy: JsonObject = {};
  for (const key in value) {
    const item = (value as JsonObject)[key];
    setOwn(copy, key, typeof item === 'object' && item !== null ? deepClone(item) : item);
  }
  return copy as T;
}

/**
 * The value with every part that equals the same part of `sample` replaced by that very part, in place; `sample` itself
 * when they are equal. For values that are many and alike, are kept for long and never changed: replicas of a pod are
 * the same but for a few names.
 */
export function shareParts<T>(value: T, sample: T): T {
  if (value === sample) return sample;
  if (typeof value !== 'object' || value === null || typeof sample !== 'object' || sample === null) return value;
  if (Array.isArray(value)) return (Array.isArray(sample) ? shareItems(value, sample) : value) as T;
  if (Array.isArray(sample)) return value;
  return shareMembers(value as JsonObject, sample as JsonObject) as T;
}

/** Writes nothing before the first difference: up to there the whole sample may turn out to be the same. */
function shareMembers(parts: JsonObject, others: JsonObject): JsonObject {
  let same = true;
  let surplus = 0;
  for (const key in parts) {
    // What is inherited is a function, which no part is.
    const other = key === '__proto__' ? undefined : others[key];
    const part = shareParts(parts[key], other);
    surplus += 1;
    if (part === other && part !== undefined) {
      if (!same) setShared(parts, key, part);
    } else if (same) {
      same = false;
      shareUntil(parts, others, key);
    }
  }
  if (!same) return parts;
  for (const _ in others) surplus -= 1;
  if (surplus === 0) return others;
  shareUntil(parts, others);
  return parts;
}

function shareUntil(parts: JsonObject, others: JsonObject, end?: string): void {
  for (const key in parts) {
    if (key === end) return;
    setShared(parts, key, others[key]);
  }
}

function setShared(parts: JsonObject, key: string, part: unknown): void {
  if (typeof part === 'object' || typeof part === 'string') setOwn(parts, key, part);
}

function shareItems(items: unknown[], others: unknown[]): unknown[] {
  let same = items.length === others.length;
  for (let at = 0; at < items.length && at < others.length; at += 1) {
    const item = shareParts(items[at], others[at]);
    if (item === others[at]) {
      if (!same) items[at] = item;
    } else if (same) {
      same = false;
      for (let before = 0; before < at; before += 1) items[before] = others[before];
    }
  }
  return same ? others : items;
}

/** Sets a property as data even when its name is `__proto__`, which a client may send. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** Structural equality; a property set to undefined equals an absent one, as both encode to nothing. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at += 1) if (!deepEqual(a[at], b[at])) return false;
    return true;
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  for (const key in left) {
    if (!deepEqual(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
  }
  for (const key in right) {
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  }
  return true;
}

/**
 * Kubernetes' semantic equality: null, absent and empty collections are one and the same at every depth.
 * Used to decide whether a spec changed.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isEmptyValue(a) && isEmptyValue(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    for (let at = 0; at < a.length; at += 1) if (!semanticEqual(a[at], b[at])) return false;
    return true;
  }
  if (isObject(a) && isObject(b)) {
    for (const key in a) if (!semanticEqual(a[key], b[key])) return false;
    for (const key in b) if (!Object.hasOwn(a, key) && !isEmptyValue(b[key])) return false;
    return true;
  }
  return false;
}

function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return false;
}
