import {
  type AnyNode,
  atomicNode,
  freeFormNode,
  type ListNode,
  type ObjectNode,
  type SchemaNode,
} from '../../../api/schema/index.ts';
import { isObject } from '../../../machinery/values/index.ts';

/** How one value, or a pair of values of the same field, is to be walked. */
export type Walk =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'object'; readonly node: ObjectNode }
  | { readonly kind: 'list'; readonly node: ListNode };

const LEAF: Walk = { kind: 'leaf' };
const FREE_FORM: Walk = { kind: 'object', node: freeFormNode };

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/**
 * Atomic nodes, scalars, values that do not fit their node and pairs with nothing on either side are leaves:
 * they are compared, merged and owned as a whole.
 */
export function walkOf(node: SchemaNode | undefined, ...values: readonly unknown[]): Walk {
  const effective: SchemaNode | AnyNode = node ?? atomicNode;
  if (effective.kind === 'scalar') return LEAF;
  if (effective.kind === 'list') {
    if (effective.listType === 'atomic' || !values.every((value) => isAbsent(value) || Array.isArray(value))) {
      return LEAF;
    }
    return values.every((value) => isAbsent(value) || (value as unknown[]).length === 0)
      ? LEAF
      : { kind: 'list', node: effective };
  }
  const isLeaf = effective.kind === 'any' ? !effective.deduced : effective.atomic;
  if (isLeaf || !values.every((value) => isAbsent(value) || isObject(value))) return LEAF;
  if (values.every((value) => isAbsent(value) || isEmptyObject(value))) return LEAF;
  return effective.kind === 'any' ? FREE_FORM : { kind: 'object', node: effective };
}
