/**
 * Objects as stored bytes. Every stored document starts with its kind and apiVersion, in that order, so that lists can
 * drop them by cutting a prefix of known length.
 */
import type { Content, Entry, Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { apiVersion, type ResourceRow, type VersionRow } from '../registry/row.ts';
import { encodeManagedFields } from './managed-fields-text.ts';
import { withManagedFields } from './object-cache.ts';
import { isInHead, RepeatedTails } from './repeated-tails.ts';

/** `{"kind":"Pod","apiVersion":"v1",` of the stored form. */
export function storedHead(row: ResourceRow): string {
  let head = heads.get(row);
  if (head === undefined) {
    const { group, version } = row.stored;
    head = `{"kind":${JSON.stringify(row.kind)},"apiVersion":${JSON.stringify(apiVersion(group, version))},`;
    heads.set(row, head);
  }
  return head;
}

const heads = new WeakMap<ResourceRow, string>();

/** The same object with kind and apiVersion first and metadata third. */
export function ordered(row: ResourceRow, object: ApiObject): ApiObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  return { kind: row.kind, apiVersion: apiVersion(row.stored.group, row.stored.version), metadata, ...rest };
}

/** Writes an object in its stored form; the object is shared afterwards and must not be changed. */
export function putObject(
  kernel: Kernel,
  transaction: Transaction,
  { row, key, object, managedFields: given }: ObjectWrite,
): Entry {
  const { document, managedFields } = partsOf(ordered(row, object), given);
  const entry = transaction.put(key, (revision) => {
    document.metadata.resourceVersion = String(revision);
    return encoded(row, document, managedFields);
  });
  keep(kernel, entry, { document, managedFields });
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
  readonly row: ResourceRow;
  readonly key: string;
  readonly object: ApiObject;
  /** `metadata.managedFields` as JSON text, when the object does not have them itself. */
  readonly managedFields?: string | undefined;
}

function keep(
  { objects }: Kernel,
  entry: Entry,
  { document, managedFields }: { document: ApiObject; managedFields: string | undefined },
): void {
  if (managedFields === undefined) objects.keep(entry, document);
  else objects.keepLean(entry, document, managedFields);
}

function encoded(row: ResourceRow, document: ApiObject, managedFields: string | undefined): Content {
  if (managedFields === undefined) return JSON.stringify(document);
  const head = `${storedHead(row)}"metadata":${JSON.stringify(document.metadata).slice(0, -1)},"managedFields":`;
  const tail = tails.find(row, document, managedFields, () => tailOf(row, document, managedFields));
  return tail === undefined ? head + tailOf(row, document, managedFields) : { text: head, bytes: tail };
}

const tails = new RepeatedTails();

function tailOf(row: ResourceRow, document: ApiObject, managedFields: string): string {
  let text = `${managedFields}}`;
  for (const key of Object.keys(document)) {
    if (isInHead(key)) continue;
    const value = textOf(row, key, document[key]);
    if (value !== undefined) text += `,${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}

/** What each part was when it was encoded last: replicas have the very same spec, and so have writes of one's status. */
const encodedLast = new WeakMap<ResourceRow, Map<string, { readonly value: unknown; readonly text: string }>>();

function textOf(row: ResourceRow, key: string, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) as string | undefined;
  let parts = encodedLast.get(row);
  if (parts === undefined) encodedLast.set(row, (parts = new Map()));
  const last = parts.get(key);
  if (last?.value === value) return last.text;
  const text = JSON.stringify(value);
  parts.set(key, { value, text });
  return text;
}

/** Removes an object; watchers see its last state with the revision of the removal. */
export function removeObject(kernel: Kernel, transaction: Transaction, write: ObjectWrite): ApiObject {
  return withManagedFields(removeParts(kernel, transaction, write), write.managedFields);
}

/** The same for who may not need the last state: it comes without managed fields that are given as text. */
export function removeParts(
  kernel: Kernel,
  transaction: Transaction,
  { row, key, object, managedFields }: ObjectWrite,
): ApiObject {
  const document = ordered(row, { ...object, metadata: { ...object.metadata } });
  const last = transaction.delete(key, (revision) => {
    document.metadata.resourceVersion = String(revision);
    return encoded(row, document, managedFields);
  });
  if (last !== undefined) keep(kernel, last, { document, managedFields });
  return document;
}

/** Whether stored bytes can be served as they are in this version. */
export function isStoredForm(row: ResourceRow, version: VersionRow): boolean {
  return row.stored.version === version.name && row.stored.group === row.group && version.fromStored === undefined;
}

/** The object as the asked version shows it; the stored object is left as it is. */
export function inVersion(
  { row, version }: { row: ResourceRow; version: VersionRow },
  stored: ApiObject,
  clone: (object: ApiObject) => ApiObject,
): ApiObject {
  if (isStoredForm(row, version)) return stored;
  const shown = version.fromStored === undefined ? { ...stored } : version.fromStored(clone(stored));
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = shown;
  return { kind: row.kind, apiVersion: apiVersion(row.group, version.name), ...rest };
}
