import type { ManagedFieldsEntry } from '../../../api/generated/meta-v1.ts';
import type { ObjectNode } from '../../../api/schema/index.ts';
import { deepEqual, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { EMPTY_SET, type FieldSet, isEmptySet, union } from './field-set.ts';
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  identityOf,
  type Manager,
  type ManagerName,
  type Managers,
  storedManagers,
} from './managed-fields.ts';
import { compareChange, releaseFields, withoutUnowned } from './ownership.ts';
import { UnkeyedItemError } from './path-element.ts';

export interface UpdateToTrack {
  /** The stored object; undefined when the write creates it. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly node: ObjectNode;
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly resetFields?: FieldSet | undefined;
}

/**
 * The managedFields of an object after a write that is not an apply: the writer owns what it changed, and whoever
 * owned it before no longer does. A write that changes nothing leaves every entry as it was.
 */
export function trackUpdate(update: UpdateToTrack): ManagedFieldsEntry[] {
  const { before, after, subresource = '' } = update;
  const managers = currentManagers(before, after, subresource);
  // An object whose tracking was reset, or that never had any, stays untracked until someone applies it.
  if (managers.size === 0 && before !== undefined) return [];
  try {
    return encodeManagers(capUpdaters(recordUpdate(managers, update)));
  } catch (error) {
    if (error instanceof UnkeyedItemError) return [];
    throw error;
  }
}

function nameOf({ manager, apiVersion, subresource = '' }: UpdateToTrack): ManagerName {
  return { manager, operation: 'Update', apiVersion, subresource };
}

export function recordUpdate(managers: Managers, update: UpdateToTrack): Managers {
  const { before = {}, after, node, resetFields = EMPTY_SET, now } = update;
  const comparison = compareChange({
    before: withoutManagedFields(before),
    after: withoutManagedFields(after),
    node,
    resetFields,
  });
  const changed = withoutUnowned(comparison.changed);
  const released = releaseFields(managers, '', comparison).managers;
  if (isEmptySet(changed)) return released;
  const name = nameOf(update);
  const id = identityOf(name);
  const result = new Map<string, Manager>(released);
  result.set(id, { ...name, time: now, fields: union(released.get(id)?.fields ?? EMPTY_SET, changed) });
  return result;
}

/**
 * Whose entries count: through a subresource always the stored ones; otherwise those of the request, so that clients
 * may edit them, unless they are absent or broken. A list that is empty or holds one empty entry resets them all.
 */
function currentManagers(before: JsonObject | undefined, after: JsonObject, subresource: string): Managers {
  const entries = managedFieldsOf(before);
  const stored = (): Managers => storedManagers(entries ?? []);
  if (subresource !== '') return stored();
  const requested = managedFieldsOf(after);
  if (requested === undefined || deepEqual(requested, entries)) return stored();
  if (isReset(requested)) return new Map();
  const decoded = decodeManagers(requested);
  return decoded === undefined || decoded.size === 0 ? stored() : decoded;
}

function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && isObject(entries[0]) && isEmptySet(entries[0] as FieldSet));
}

export function managedFieldsOf(object: JsonObject | undefined): ManagedFieldsEntry[] | undefined {
  const metadata = object?.metadata;
  const entries = isObject(metadata) ? metadata.managedFields : undefined;
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : undefined;
}

/** The object with its managedFields left out, which never own themselves; nothing else is copied. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata) || metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}
