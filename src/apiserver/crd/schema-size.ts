/** How large values of a schema can be, so that the cost of rules over them can be told beforehand. */
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { isObject } from '../../machinery/values/index.ts';
import { LIMITS } from '../exchange/limits.ts';

/** What the formats allow, quotes not counted. */
const FORMAT_LENGTHS: Readonly<Record<string, number>> = { date: 10, 'date-time': 30, duration: 32 };
/** A character may take four bytes. */
const BYTES_OF_CHARACTER = 4;
/** Quotes, a colon and a comma around the key of a map, and the key itself. */
const BYTES_OF_KEY = 6;

export const itemsOf = ({ items }: JSONSchemaProps): JSONSchemaProps | undefined =>
  isObject(items) ? (items as JSONSchemaProps) : undefined;

export const valuesOf = ({ additionalProperties }: JSONSchemaProps): JSONSchemaProps | undefined =>
  isObject(additionalProperties) ? (additionalProperties as JSONSchemaProps) : undefined;

/** Bytes of the smallest JSON of that schema. */
export function leastBytes(schema: JSONSchemaProps | undefined): number {
  switch (schema?.type) {
    case 'string':
    case 'array':
      return 2;
    case 'boolean':
      return 4;
    case 'object': {
      const wanted = (schema.required ?? []).filter((name) => schema.properties?.[name]?.default === undefined);
      return wanted.reduce((bytes, name) => bytes + name.length + 4 + leastBytes(schema.properties?.[name]), 2);
    }
    default:
      return 1;
  }
}

/** Bytes of a text, items of a list, entries of a map: as declared, or as many as fit into a request. */
export function mostElements(schema: JSONSchemaProps): number {
  const room = LIMITS.bodyBytes - 2;
  switch (schema.type) {
    case 'string': {
      if (schema.maxLength !== undefined) return schema.maxLength * BYTES_OF_CHARACTER;
      if (schema.enum !== undefined) return Math.max(0, ...schema.enum.map((value) => String(value).length));
      return FORMAT_LENGTHS[schema.format ?? ''] ?? room;
    }
    case 'array':
      return schema.maxItems ?? Math.floor(room / (leastBytes(itemsOf(schema)) + 1));
    case 'object': {
      const values = valuesOf(schema);
      if (values === undefined) return 1;
      return schema.maxProperties ?? Math.floor(room / (leastBytes(values) + BYTES_OF_KEY));
    }
    default:
      return 1;
  }
}

/** How often a node can stand in one object: undefined where a list or map above it has no declared bound. */
export interface Cardinality {
  readonly declared: number | undefined;
}

export const ONCE: Cardinality = { declared: 1 };

export const within = ({ declared }: Cardinality, bound: number | undefined): Cardinality => ({
  declared: declared === undefined || bound === undefined ? undefined : declared * bound,
});

export const timesIn = ({ declared }: Cardinality, schema: JSONSchemaProps): number =>
  declared ?? Math.floor(LIMITS.bodyBytes / (leastBytes(schema) + 1));
