import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { EMPTY_SET, type FieldSet } from './field-set.ts';
import { itemElement } from './path-element.ts';

/**
 * The fields a new object sets: what a comparison with an empty object finds changed, built in one pass and in order,
 * because creates are the most frequent writes.
 */
export function fieldsOfNew(object: JsonObject, node: ObjectNode): FieldSet {
  return members(object, node, true) ?? EMPTY_SET;
}

/**
 * `exists`: the field always exists in this kind of object, so its zero value says nothing and it is not itself
 * something the writer added.
 */
function fieldsOf(value: unknown, node: SchemaNode | undefined, exists: boolean): FieldSet | undefined {
  if (value === undefined || (exists && isZero(value))) return undefined;
  const walk = walkOf(node, undefined, value);
  if (walk === undefined) return EMPTY_SET;
  const children =
    walk.kind === 'object' ? members(value as JsonObject | null, walk, exists) : items(value as unknown[], walk);
  if (exists) return children;
  return children === undefined ? EMPTY_SET : { '.': EMPTY_SET, ...children };
}

function isZero(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function members(object: JsonObject | null, node: ObjectNode, exists: boolean): FieldSet | undefined {
  let result: Record<string, FieldSet> | undefined;
  for (const key of Object.keys(object ?? {}).sort()) {
    const fields = fieldsOf(object?.[key], node.property(key), exists && node.alwaysPresent(key));
    if (fields !== undefined) (result ??= {})[`f:${key}`] = fields;
  }
  return result;
}

/** Items that share a key are owned together, as nobody can tell them apart. */
function items(list: readonly unknown[], node: ListNode): FieldSet | undefined {
  const byElement = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const item of list) {
    const element = itemElement(node, item);
    if (byElement.has(element)) repeated.add(element);
    else byElement.set(element, item);
  }
  const result: Record<string, FieldSet> = {};
  for (const element of [...byElement.keys()].sort()) {
    const fields = repeated.has(element) ? EMPTY_SET : fieldsOf(byElement.get(element), node.element, false);
    if (fields !== undefined) result[element] = fields;
  }
  return byElement.size === 0 ? undefined : result;
}
