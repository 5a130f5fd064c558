import { isObject, type JsonObject, setOwn } from '../../machinery/values/index.ts';
import { LIMITS } from '../exchange/limits.ts';
import { PatchError, REJECTED } from './patch-error.ts';

const tooDeep = (): PatchError =>
  new PatchError('Invalid', `${REJECTED}: the patched object exceeds the max depth of ${LIMITS.jsonDepth}`);

const SHIFTED_AT_ONCE = 256;

/** Counts what the operations of one patch do to large values, and ends the patch when it is too much. */
export class PatchWork {
  #spent = 0;
  #copiedBytes = 0;

  /** How many values were shifted, compared and copied so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Items of a list move to other indices: a block of memory, so hundreds of them cost what one comparison costs. */
  shift(items: number): void {
    this.spend(items / SHIFTED_AT_ONCE);
  }

  spend(values: number): void {
    this.#spent += values;
    if (this.#spent > LIMITS.jsonPatchWork) {
      throw new PatchError(
        'RequestEntityTooLarge',
        `The operations of the JSON patch cost too much: they may compare and copy ${LIMITS.jsonPatchWork} values, and ${SHIFTED_AT_ONCE} items shifted in a list count as one`,
      );
    }
  }

  copyOf(value: unknown, depth = 0): unknown {
    if (depth > LIMITS.jsonDepth) throw tooDeep();
    this.spend(1);
    if (Array.isArray(value)) {
      this.#addBytes(2 + value.length);
      return value.map((item) => this.copyOf(item, depth + 1));
    }
    if (!isObject(value)) {
      this.#addBytes(typeof value === 'string' ? value.length + 2 : 4);
      return value;
    }
    const copy: JsonObject = {};
    for (const key in value) {
      this.#addBytes(key.length + 4);
      setOwn(copy, key, this.copyOf(value[key], depth + 1));
    }
    return copy;
  }

  areEqual(a: unknown, b: unknown): boolean {
    this.spend(1);
    if (a === b) return true;
    if (Array.isArray(a)) {
      return Array.isArray(b) && a.length === b.length && a.every((item, at) => this.areEqual(item, b[at]));
    }
    if (!isObject(a) || !isObject(b)) return false;
    let members = 0;
    for (const key in a) {
      members++;
      if (!Object.hasOwn(b, key) || !this.areEqual(a[key], b[key])) return false;
    }
    for (const _ in b) members--;
    return members === 0;
  }

  #addBytes(bytes: number): void {
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > LIMITS.jsonPatchCopiedBytes) {
      const limit = LIMITS.jsonPatchCopiedBytes;
      throw new PatchError('Invalid', `Unable to copy: the accumulated size exceeds the limit of ${limit} bytes`);
    }
  }
}

/** Moves and copies can nest deeper than any body: what walks over the object later must find it no deeper. */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > LIMITS.jsonDepth) throw tooDeep();
  if (Array.isArray(value)) for (const item of value) checkDepth(item, depth + 1);
  else for (const key in value) checkDepth((value as JsonObject)[key], depth + 1);
}
