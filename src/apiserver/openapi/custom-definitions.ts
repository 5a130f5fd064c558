import { OBJECT_META_DESCRIPTION, TYPE_META_DESCRIPTIONS } from '../../api/schema/descriptions.ts';
import { deepClone, isObject, type JsonObject } from '../../machinery/values/index.ts';
import { type Dialect, refTo, refWith } from './dialect.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

/** `com.example.v1.Widget` for kind Widget of example.com/v1. */
export function customName(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].filter((part) => part !== '').join('.');
}

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
}

const typeMeta = (): JsonObject => ({
  apiVersion: { description: TYPE_META_DESCRIPTIONS.apiVersion, type: 'string' },
  kind: { description: TYPE_META_DESCRIPTIONS.kind, type: 'string' },
});

/** The definition of a custom resource, from its structural schema where it has one. */
export function customDefinition(kind: CustomKind, schema: unknown, dialect: Dialect): JsonObject {
  const { group, version } = kind;
  const names = { 'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }] };
  // Clients take a definition with properties to be complete, so one that allows anything must have none.
  if (!isObject(schema)) return { type: 'object', ...names };
  if (dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true) return { type: 'object', ...names };
  const converted = convert(deepClone(schema), dialect);
  const properties = isObject(converted.properties) ? converted.properties : {};
  return {
    ...converted,
    properties: {
      ...properties,
      ...typeMeta(),
      metadata: refWith(OBJECT_META, { description: OBJECT_META_DESCRIPTION }, dialect),
    },
    ...names,
  };
}

export function customListDefinition(kind: CustomKind, dialect: Dialect): JsonObject {
  const { group, version, listKind } = kind;
  const items = refTo(customName(group, version, kind.kind), dialect);
  return {
    description: `${listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeMeta(),
      items: { description: `The ${kind.kind} objects.`, type: 'array', items },
      metadata: refWith(LIST_META, { description: 'Where the list stands in the history of the store.' }, dialect),
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  };
}

/** Version 2 cannot say several things, and clients misread others; what it cannot say is left open. */
function convert(schema: JsonObject, dialect: Dialect): JsonObject {
  if (dialect === 'v2') dropForV2(schema);
  if (isObject(schema.items)) schema.items = convert(schema.items, dialect);
  if (isObject(schema.additionalProperties)) {
    schema.additionalProperties = convert(schema.additionalProperties, dialect);
  }
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isObject(property)) schema.properties[name] = convert(property, dialect);
    }
  }
  // Added last, as a reference is not a structural schema to convert.
  if (schema['x-kubernetes-embedded-resource'] === true && isObject(schema.properties)) {
    const metadata = refWith(OBJECT_META, { description: OBJECT_META_DESCRIPTION }, dialect);
    schema.properties = { ...schema.properties, ...typeMeta(), metadata };
  }
  return schema;
}

function dropForV2(schema: JsonObject): void {
  for (const name of ['allOf', 'anyOf', 'oneOf', 'not']) delete schema[name];
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const { required } = schema;
  if (Array.isArray(required) && isObject(schema.properties)) {
    const { properties } = schema;
    const kept = required.filter((name) => {
      const property = properties[name as string];
      return !(isObject(property) && property.nullable === true);
    });
    if (kept.length > 0) schema.required = kept;
    else delete schema.required;
  }
  if (schema.nullable === true) {
    for (const name of ['type', 'nullable', 'items', 'properties']) delete schema[name];
  }
  if (preserves) {
    delete schema.items;
    delete schema.properties;
    if (schema.type === 'object') delete schema.type;
  }
  if (schema.items === undefined && schema.type === 'array') delete schema.type;
}
