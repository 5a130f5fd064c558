/**
 * Objects as stored bytes. Every stored document starts with its kind and apiVersion, in that order, so that lists can
 * drop them by cutting a prefix of known length.
 */
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { StoredReads } from './kind-view.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, type Resource, type ServedVersion } from '../registry/resource.ts';
import { converting } from './converting.ts';
import { encodeManagedFields } from './managed-fields-text.ts';
import { withManagedFields } from './object-cache.ts';

/** `{"kind":"Pod","apiVersion":"v1",` of the stored form. */
export function storedHead(resource: Resource): string {
  let head = heads.get(resource);
  if (head === undefined) {
    const { group, version } = resource.stored;
    head = `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(apiVersion(group, version))},`;
    heads.set(resource, head);
  }
  return head;
}

const heads = new WeakMap<Resource, string>();

/** The same object with kind and apiVersion first and metadata third. */
export function ordered(resource: Resource, object: ApiObject): ApiObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  return {
    kind: resource.kind,
    apiVersion: apiVersion(resource.stored.group, resource.stored.version),
    metadata,
    ...rest,
  };
}

/** Writes an object in its stored form; the object is shared afterwards and must not be changed. */
export function putObject(
  stored: Pick<StoredReads, 'objects'>,
  transaction: Transaction,
  { resource, key, object, managedFields: given }: ObjectWrite,
): StoredEntry {
  const { document, managedFields } = partsOf(ordered(resource, object), given);
  const entry = transaction.put(key, (revision) => {
    document.metadata.resourceVersion = String(revision);
    return encoded(resource, document, managedFields);
  });
  keep(stored, entry, { document, managedFields });
  return entry;
}

/** Managed fields are kept as text: as a tree they take several times the room, and few ever look at them. */
function partsOf(
  document: ApiObject,
  managedFields: string | undefined,
): { document: ApiObject; managedFields: string | undefined } {
  const own = document.metadata.managedFields;
  if (managedFields !== undefined || own === undefined) return { document, managedFields };
  const { managedFields: _, ...metadata } = document.metadata;
  return { document: { ...document, metadata }, managedFields: encodeManagedFields(own) };
}

export interface ObjectWrite {
  readonly resource: Resource;
  readonly key: string;
  readonly object: ApiObject;
  /** `metadata.managedFields` as JSON text, when the object does not have them itself. */
  readonly managedFields?: string | undefined;
}

function keep(
  { objects }: Pick<StoredReads, 'objects'>,
  entry: StoredEntry,
  { document, managedFields }: { document: ApiObject; managedFields: string | undefined },
): void {
  if (managedFields === undefined) objects.keep(entry, document);
  else objects.keepWithoutManagedFields(entry, document, managedFields);
}

function encoded(resource: Resource, document: ApiObject, managedFields: string | undefined): string {
  if (managedFields === undefined) return JSON.stringify(document);
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = document;
  const head = `${storedHead(resource)}"metadata":${JSON.stringify(metadata).slice(0, -1)},"managedFields":${managedFields}}`;
  const tail = JSON.stringify(rest);
  return tail === '{}' ? `${head}}` : `${head},${tail.slice(1)}`;
}

/** Removes an object; watchers see its last state with the revision of the removal. */
export function removeObject(
  stored: Pick<StoredReads, 'objects'>,
  transaction: Transaction,
  write: ObjectWrite,
): ApiObject {
  return withManagedFields(removeParts(stored, transaction, write), write.managedFields);
}

/** The same for who may not need the last state: it comes without managed fields that are given as text. */
export function removeParts(
  stored: Pick<StoredReads, 'objects'>,
  transaction: Transaction,
  { resource, key, object, managedFields }: ObjectWrite,
): ApiObject {
  const document = ordered(resource, { ...object, metadata: { ...object.metadata } });
  const last = transaction.delete(key, (revision) => {
    document.metadata.resourceVersion = String(revision);
    return encoded(resource, document, managedFields);
  });
  if (last !== undefined) keep(stored, last, { document, managedFields });
  return document;
}

/** Whether stored bytes can be served as they are in this version. */
export function isStoredForm(resource: Resource, version: ServedVersion): boolean {
  return (
    resource.stored.version === version.name &&
    resource.stored.group === resource.group &&
    version.fromStored === undefined
  );
}

/** What a webhook is asked to convert at once. */
const LEARNED_AT_ONCE = 200;

/** All of them as the asked version shows them. Waits only where a webhook converts. */
export function allInVersion(
  asked: { resource: Resource; version: ServedVersion },
  stored: readonly ApiObject[],
  clone: (object: ApiObject) => ApiObject,
): ApiObject[] | Promise<ApiObject[]> {
  if (asked.version.learn === undefined) return stored.map((object) => inVersion(asked, object, clone));
  return allLearned(asked, stored, clone);
}

async function allLearned(
  asked: { resource: Resource; version: ServedVersion },
  stored: readonly ApiObject[],
  clone: (object: ApiObject) => ApiObject,
): Promise<ApiObject[]> {
  const shown: ApiObject[] = [];
  for (let at = 0; at < stored.length; at += LEARNED_AT_ONCE) {
    const page = stored.slice(at, at + LEARNED_AT_ONCE);
    await asked.version.learn?.(page);
    for (const object of page) shown.push(await converting(() => inVersion(asked, object, clone)));
  }
  return shown;
}

/** The object as the asked version shows it; the stored object is left as it is. */
export function inVersion(
  { resource, version }: { resource: Resource; version: ServedVersion },
  stored: ApiObject,
  clone: (object: ApiObject) => ApiObject,
): ApiObject {
  if (isStoredForm(resource, version)) return stored;
  const shown = version.fromStored === undefined ? { ...stored } : version.fromStored(clone(stored));
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = shown;
  return { kind: resource.kind, apiVersion: apiVersion(resource.group, version.name), ...rest };
}
