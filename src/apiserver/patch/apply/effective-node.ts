import { freeFormNode, type ListNode, type ObjectNode, type SchemaNode } from '../../../api/schema/index.ts';
import { isObject } from '../../../machinery/values/index.ts';

/**
 * The node by which a value, or a pair of values of the same field, is walked part by part; undefined when it is a
 * leaf: compared, merged and owned as a whole. Leaves are scalars, atomic nodes, values that do not fit their node,
 * and pairs with nothing on either side.
 */
export function walkOf(node: SchemaNode | undefined, a: unknown, b?: unknown): ObjectNode | ListNode | undefined {
  if (node === undefined || node.kind === 'scalar') return undefined;
  if (node.kind === 'list') {
    if (node.listType === 'atomic' || !isListOrNothing(a) || !isListOrNothing(b)) return undefined;
    return (a?.length ?? 0) > 0 || (b?.length ?? 0) > 0 ? node : undefined;
  }
  const isLeaf = node.kind === 'any' ? !node.deduced : node.atomic;
  if (isLeaf || !isObjectOrNothing(a) || !isObjectOrNothing(b) || (isBare(a) && isBare(b))) return undefined;
  return node.kind === 'any' ? freeFormNode : node;
}

function isListOrNothing(value: unknown): value is readonly unknown[] | null | undefined {
  return value === undefined || value === null || Array.isArray(value);
}

function isObjectOrNothing(value: unknown): value is object | null | undefined {
  return value === undefined || value === null || isObject(value);
}

function isBare(value: object | null | undefined): boolean {
  for (const _ in value) return false;
  return true;
}
