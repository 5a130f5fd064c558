/**
 * Managed fields from and to JSON text. Objects that were made alike have the very same ones, down to the second, and a
 * write changes one manager's of several; so what was read is remembered for a while, and what was written as well.
 */
import type { ManagedFieldsEntry } from '../exchange/object.ts';

const MAX_KNOWN = 256;
const known = new Map<string, readonly ManagedFieldsEntry[]>();
/** The text of sets of fields; they are never changed once built. */
const texts = new WeakMap<object, string>();

/** Shared, so never change them. */
export function parseManagedFields(text: string): ManagedFieldsEntry[] {
  let entries = known.get(text);
  if (entries === undefined) {
    entries = JSON.parse(text) as ManagedFieldsEntry[];
    if (known.size === MAX_KNOWN) known.clear();
    known.set(text, entries);
  }
  return entries as ManagedFieldsEntry[];
}

export function encodeManagedFields(entries: readonly ManagedFieldsEntry[]): string {
  return `[${entries.map(encodeEntry).join(',')}]`;
}

function encodeEntry(entry: ManagedFieldsEntry): string {
  const { fieldsV1 } = entry;
  if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return JSON.stringify(entry);
  let text = '{';
  for (const name in entry) {
    const value =
      name === 'fieldsV1' ? encodeFields(fieldsV1) : JSON.stringify(entry[name as keyof ManagedFieldsEntry]);
    if (value !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${value}`;
  }
  return `${text}}`;
}

function encodeFields(fields: object): string {
  let text = texts.get(fields);
  if (text === undefined) {
    text = JSON.stringify(fields);
    texts.set(fields, text);
  }
  return text;
}
