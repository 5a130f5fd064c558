import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { itemElement } from './path-element.ts';
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
function fieldsOf(value: unknown, node: SchemaNode | undefined, exists: boolean): string | undefined {
  if (value === undefined || (exists && isZero(value))) return undefined;
  const walk = walkOf(node, undefined, value);
  if (walk === undefined) return EMPTY;
  const children =
    walk.kind === 'object' ? members(value as JsonObject, walk, exists) : items(value as readonly unknown[], walk);
  if (exists) return children === '' ? undefined : `{${children}}`;
  return children === '' ? EMPTY : `{".":{},${children}}`;
}

function members(object: JsonObject, node: ObjectNode, exists: boolean): string {
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const fields = fieldsOf(object[key], node.property(key), exists && node.alwaysPresent(key));
    if (fields !== undefined) text += `${text === '' ? '' : ','}${fieldName(key)}:${fields}`;
  }
  return text;
}

/** Items that share a key are owned together, as nobody can tell them apart. */
function items(list: readonly unknown[], node: ListNode): string {
  const byElement = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const item of list) {
    const element = itemElement(node, item);
    if (byElement.has(element)) repeated.add(element);
    else byElement.set(element, item);
  }
  let text = '';
  for (const element of [...byElement.keys()].sort()) {
    const fields = repeated.has(element) ? EMPTY : fieldsOf(byElement.get(element), node.element, false);
    if (fields !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(element)}:${fields}`;
  }
  return text;
}
