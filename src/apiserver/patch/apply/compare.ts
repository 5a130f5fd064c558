import { freeFormNode, type ListNode, type ObjectNode, type SchemaNode } from '../../../api/schema/index.ts';
import { deepEqual, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';

export interface Comparison {
  /** Set anew or to another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Which fields differ between two states of an object. Shared subtrees are skipped by reference. */
export function compareObjects(before: JsonObject, after: JsonObject, node: ObjectNode): Comparison {
  const walker = new Comparer();
  walker.object(before, after, node);
  return walker.result();
}

class Comparer {
  readonly #changed = new FieldSetBuilder();
  readonly #removed = new FieldSetBuilder();
  readonly #path: string[] = [];

  result(): Comparison {
    return { changed: this.#changed.build(), removed: this.#removed.build() };
  }

  /** A side that does not exist has no members, not even those that always are. */
  object(before: JsonObject | undefined, after: JsonObject | undefined, node: ObjectNode): void {
    const both = before !== undefined && after !== undefined;
    for (const key of Object.keys(before ?? {})) {
      const next = after !== undefined && Object.hasOwn(after, key) ? after[key] : undefined;
      this.#member(key, before?.[key], next, node, both);
    }
    for (const key of Object.keys(after ?? {})) {
      if (before === undefined || !Object.hasOwn(before, key)) this.#member(key, undefined, after?.[key], node, both);
    }
  }

  #member(key: string, before: unknown, after: unknown, node: ObjectNode, both: boolean): void {
    if (before === after) return;
    const present = both && (before === undefined || after === undefined) && node.alwaysPresent(key);
    this.#path.push(fieldElement(key));
    this.#value(
      present ? (before ?? zeroLike(after)) : before,
      present ? (after ?? zeroLike(before)) : after,
      node.property(key),
    );
    this.#path.pop();
  }

  #value(before: unknown, after: unknown, node: SchemaNode | undefined): void {
    // Most of an object is the same on both sides, and finding that out is cheaper than walking it by its schema.
    if (before === after || deepEqual(before, after)) return;
    const walk = walkOf(node, before, after);
    if (walk === undefined) {
      if (isDeduced(node) && isObject(before) !== isObject(after))
        this.object(objectOf(before), objectOf(after), freeFormNode);
      return this.#leaf(before, after);
    }
    if (walk.kind === 'object') this.object(objectOf(before), objectOf(after), walk);
    else this.#list((before ?? []) as unknown[], (after ?? []) as unknown[], walk);
    if (before === undefined) this.#changed.insert(this.#path);
    else if (after === undefined) this.#removed.insert(this.#path);
  }

  #leaf(before: unknown, after: unknown): void {
    if (after === undefined) this.#removed.insert(this.#path);
    else if (!(isNothing(before) && isNothing(after))) this.#changed.insert(this.#path);
  }

  /** Items pair up by key. Several items with one key are one unit: they change, appear and vanish together. */
  #list(before: readonly unknown[], after: readonly unknown[], node: ListNode): void {
    const left = groupByElement(before, node);
    const right = groupByElement(after, node);
    for (const element of new Set([...left.keys(), ...right.keys()])) {
      const l = left.get(element) ?? [];
      const r = right.get(element) ?? [];
      this.#path.push(element);
      if (l.length <= 1 && r.length <= 1) {
        this.#value(l[0], r[0], node.element);
      } else if (l.length >= 2 && r.length >= 2) {
        if (!deepEqual(l, r)) this.#changed.insert(this.#path);
      } else if (l.length >= 2) {
        if (r.length > 0) this.#value(undefined, r[0], node.element);
        this.#removed.insert(this.#path);
      } else {
        if (l.length > 0) this.#value(l[0], undefined, node.element);
        this.#changed.insert(this.#path);
      }
      this.#path.pop();
    }
  }
}

/** A value whose type the schema leaves open may turn from a map into something else; its parts then come or go. */
const isDeduced = (node: SchemaNode | undefined): boolean => node?.kind === 'any' && node.deduced;

const objectOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

function groupByElement(list: readonly unknown[], node: ListNode): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(node, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

/** null and an empty list say the same about a field that always exists. */
function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function zeroLike(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return '';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      return value === null || Array.isArray(value) ? null : {};
    default:
      return undefined;
  }
}
