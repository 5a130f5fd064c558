/** The part of a schema that an object uses: names and types of fields, without the words about them. */
import type { Schema } from './read.ts';

const KEPT = [
  'type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
] as const;

/** Throws where the object has a field that the schema does not know, or lacks one that it requires. */
export function pruneSchema(schema: Schema, value: unknown, path = ''): Schema {
  const kept: Record<string, unknown> = {};
  for (const key of KEPT) if (schema[key as keyof Schema] !== undefined) kept[key] = schema[key as keyof Schema];
  if (Array.isArray(value)) {
    if (schema.items === undefined) throw new Error(`${path} is no list`);
    kept['items'] = value
      .map((item, at) => pruneSchema(schema.items as Schema, item, `${path}[${at}]`))
      .reduce(together);
  } else if (typeof value === 'object' && value !== null) {
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) return kept as Schema;
    if (schema.additionalProperties !== undefined) {
      const { type = 'string' } = schema.additionalProperties;
      return { ...kept, additionalProperties: { type } } as Schema;
    }
    Object.assign(kept, pruneFields(schema, value as Record<string, unknown>, path));
  }
  return kept as Schema;
}

function pruneFields({ properties = {}, required = [] }: Schema, value: Record<string, unknown>, path: string): Schema {
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined) throw new Error(`${path}.${missing} is required`);
  const fields = Object.entries(value).map(([name, inner]) => {
    const at = `${path}.${name}`;
    const field = properties[name];
    if (field === undefined) throw new Error(`There is no field ${at}`);
    return [name, pruneSchema(field, inner, at)];
  });
  return { properties: Object.fromEntries(fields), ...(required.length > 0 && { required }) };
}

/** Items of one list may use different fields. */
function together(one: Schema, other: Schema): Schema {
  return { ...one, ...other, ...(other.properties && { properties: { ...one.properties, ...other.properties } }) };
}
