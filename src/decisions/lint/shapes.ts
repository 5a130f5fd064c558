/** Manifests are text that people wrote: anything may stand where an object should. */

export type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NO_FIELDS;
}

/** The object at the end of a path of names; empty where the path leads nowhere. */
export function fieldsAt(value: unknown, ...names: readonly string[]): Fields {
  return names.reduce<Fields>((fields, name) => fieldsOf(fields[name]), fieldsOf(value));
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A map of texts; values that are no text are left out, as the API would refuse them. */
export function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function countAt(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}
