/**
 * Remembers the text written for values of the same shape: which fields are there, which of them are zero, what list
 * items are called. Pods of one template differ in their values, but their writers own the same fields.
 */
import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { isZero } from './zero.ts';

interface Sample {
  /** Part of a stored object, which nobody changes. */
  readonly value: unknown;
  readonly exists: boolean;
  readonly text: string | undefined;
}

/** Of every node so many shapes, the last used first. */
const MAX_SAMPLES = 8;

export class KnownShapes {
  readonly #samples = new WeakMap<SchemaNode, Sample[]>();

  textOf(value: unknown, node: SchemaNode, exists: boolean, write: () => string | undefined): string | undefined {
    let samples = this.#samples.get(node);
    if (samples === undefined) {
      samples = [];
      this.#samples.set(node, samples);
    }
    for (let at = 0; at < samples.length; at += 1) {
      const sample = samples[at] as Sample;
      if (sample.exists !== exists || !sameShape(value, sample.value, node, exists)) continue;
      if (at > 0) {
        samples.splice(at, 1);
        samples.unshift(sample);
      }
      return sample.text;
    }
    const text = write();
    samples.unshift({ value, exists, text });
    if (samples.length > MAX_SAMPLES) samples.pop();
    return text;
  }
}

/** Whether two values of a field are owned alike. Never true when they are not; false costs only time. */
export function sameShape(a: unknown, b: unknown, node: SchemaNode | undefined, exists: boolean): boolean {
  if (a === b) return true;
  const isNothing = a === undefined || (exists && isZero(a));
  if (isNothing !== (b === undefined || (exists && isZero(b)))) return false;
  if (isNothing) return true;
  const walk = walkOf(node, undefined, a);
  if (walk !== walkOf(node, undefined, b)) return false;
  if (walk === undefined) return true;
  return walk.kind === 'list'
    ? sameItems(a as readonly unknown[], b as readonly unknown[], walk)
    : sameMembers(a as JsonObject, b as JsonObject, walk, exists);
}

function sameMembers(a: JsonObject, b: JsonObject, node: ObjectNode, exists: boolean): boolean {
  let surplus = 0;
  for (const key in a) {
    surplus += 1;
    const left = a[key];
    if (left === b[key]) continue;
    if (!Object.hasOwn(b, key)) return false;
    if (!sameShape(left, b[key], node.property(key), exists && node.alwaysPresent(key))) return false;
  }
  for (const _ in b) surplus -= 1;
  return surplus === 0;
}

function sameItems(a: readonly unknown[], b: readonly unknown[], node: ListNode): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    if (!sameName(a[at], b[at], node) || !sameShape(a[at], b[at], node.element, false)) return false;
  }
  return true;
}

function sameName(a: unknown, b: unknown, { listType, keys }: ListNode): boolean {
  if (listType !== 'map') return a === b;
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of keys) if (a[key] !== b[key]) return false;
  return true;
}
