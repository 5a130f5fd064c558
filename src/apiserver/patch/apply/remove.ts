import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { below, type FieldSet, hasMember, isEmptySet } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';

/** The object without the members of a set. What becomes empty by it stays, as it is not a member itself. */
export function removeFields(value: JsonObject, set: FieldSet, node: ObjectNode): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const element = fieldElement(key);
    if (hasMember(set, element)) continue;
    const inner = below(set, element);
    setOwn(result, key, isEmptySet(inner) ? value[key] : removeFrom(value[key], inner, node.property(key)));
  }
  return result;
}

function removeFrom(value: unknown, set: FieldSet, node: SchemaNode | undefined): unknown {
  const walk = walkOf(node, value);
  if (walk?.kind === 'object') return removeFields(value as JsonObject, set, walk);
  if (walk?.kind === 'list') return removeItems(value as unknown[], set, walk);
  return value;
}

function removeItems(list: readonly unknown[], set: FieldSet, node: ListNode): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    const element = itemElement(node, item);
    if (hasMember(set, element)) continue;
    const inner = below(set, element);
    kept.push(isEmptySet(inner) ? item : removeFrom(item, inner, node.element));
  }
  return kept;
}

/** The set with every declared field on the way to a member added; map keys and list items are not. */
export function withNamedParents(set: FieldSet, node: SchemaNode | undefined): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element of Object.keys(set)) {
    const child = set[element] as FieldSet;
    if (element === '.') {
      result[element] = child;
      continue;
    }
    const childNode = nodeBelow(node, element);
    const inner = withNamedParents(child, childNode);
    const declared = element.startsWith('f:') && node?.kind === 'object' && !node.isMap && childNode !== undefined;
    result[element] = declared && !isEmptySet(inner) && !('.' in inner) ? { '.': {}, ...inner } : inner;
  }
  return result;
}

function nodeBelow(node: SchemaNode | undefined, element: string): SchemaNode | undefined {
  if (node?.kind === 'object' && element.startsWith('f:')) return node.property(element.slice(2));
  if (node?.kind === 'list') return node.element;
  return node?.kind === 'any' ? node : undefined;
}
