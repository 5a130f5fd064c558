import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { itemElement } from './path-element.ts';
import { Shapes } from './shape.ts';
import { isZero } from './zero.ts';

/** Fields nobody owns: the server sets them, or they say which object it is. */
const UNOWNED_METADATA = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]);

const EMPTY = '{}';

const isUntracked = (key: string, withoutStatus: boolean): boolean =>
  key === 'apiVersion' || key === 'kind' || (withoutStatus && key === 'status');

/**
 * The fieldsV1 of a new object as JSON text: what a comparison with an empty object finds changed. Creates are the most
 * frequent writes and the sets are only ever stored, so they are written down directly. Undefined: nothing is owned.
 */
export function createdFields(object: JsonObject, node: ObjectNode, withoutStatus: boolean): string | undefined {
  const parts: string[] = [];
  for (const key of Object.keys(object).sort()) {
    if (isUntracked(key, withoutStatus)) continue;
    const text =
      key === 'metadata'
        ? metadataFields(object[key], node.property(key))
        : fieldsOf(object[key], node.property(key), node.alwaysPresent(key));
    if (text !== undefined) parts.push(`${fieldName(key)}:${text}`);
  }
  return parts.length === 0 ? undefined : `{${parts.join(',')}}`;
}

function metadataFields(metadata: unknown, node: SchemaNode | undefined): string | undefined {
  if (!isObject(metadata) || node?.kind !== 'object') return undefined;
  const parts: string[] = [];
  for (const key of Object.keys(metadata).sort()) {
    if (UNOWNED_METADATA.has(key)) continue;
    const text = fieldsOf(metadata[key], node.property(key), node.alwaysPresent(key));
    if (text !== undefined) parts.push(`${fieldName(key)}:${text}`);
  }
  return parts.length === 0 ? undefined : `{${parts.join(',')}}`;
}

const names = new Map<string, string>();
const MAX_NAMES = 4096;

/** `"f:name"`; there are few names, so their quoted forms are remembered. */
function fieldName(name: string): string {
  let text = names.get(name);
  if (text === undefined) {
    text = JSON.stringify(`f:${name}`);
    if (names.size < MAX_NAMES) names.set(name, text);
  }
  return text;
}

/**
 * `exists`: the field always exists in this kind of object, so its zero value says nothing and it is not itself
 * something the writer added.
 */
function fieldsOf(
  value: unknown,
  node: SchemaNode | undefined,
  exists: boolean,
  itemText = knownItem,
): string | undefined {
  if (value === undefined || (exists && isZero(value))) return undefined;
  if (node === undefined || node.kind === 'scalar') return EMPTY;
  const walk = walkOf(node, undefined, value);
  if (walk === undefined) return EMPTY;
  const children =
    walk.kind === 'object'
      ? members(value as JsonObject | null, walk, exists, itemText)
      : items(value as unknown[], walk, itemText);
  if (exists) return children === '' ? undefined : `{${children}}`;
  return children === '' ? EMPTY : `{".":{},${children}}`;
}

function members(object: JsonObject | null, node: ObjectNode, exists: boolean, itemText: ItemText): string {
  let text = '';
  for (const key of Object.keys(object ?? {}).sort()) {
    const fields = fieldsOf(object?.[key], node.property(key), exists && node.alwaysPresent(key), itemText);
    if (fields !== undefined) text += `${text === '' ? '' : ','}${fieldName(key)}:${fields}`;
  }
  return text;
}

type ItemText = (item: unknown, node: SchemaNode) => string | undefined;

const shapes = new Shapes();

/** Items such as containers make up most of an object, and come in few shapes. */
const knownItem: ItemText = (item, node) => {
  const shape = shapes.find(item, node);
  if (shape === undefined) return freshItem(item, node);
  shape.text ??= freshItem(item, node);
  return shape.text;
};

const freshItem: ItemText = (item, node) => fieldsOf(item, node, false, freshItem);

/** Items that share a key are owned together, as nobody can tell them apart. */
function items(list: readonly unknown[], node: ListNode, itemText: ItemText): string {
  const byElement = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const item of list) {
    const element = itemElement(node, item);
    if (byElement.has(element)) repeated.add(element);
    else byElement.set(element, item);
  }
  let text = '';
  for (const element of [...byElement.keys()].sort()) {
    const fields = repeated.has(element) ? EMPTY : itemText(byElement.get(element), node.element);
    if (fields !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(element)}:${fields}`;
  }
  return text;
}
