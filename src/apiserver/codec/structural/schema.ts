import type { JSONSchemaProps } from '../../../api/generated/apiextensions-v1.ts';
import { isObject } from '../../../machinery/values/index.ts';

/** A structural schema, as a CustomResourceDefinition holds it in `openAPIV3Schema`. */
export type StructuralSchema = JSONSchemaProps;

export const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
export const EMBEDDED = 'x-kubernetes-embedded-resource';
export const INT_OR_STRING = 'x-kubernetes-int-or-string';
export const LIST_TYPE = 'x-kubernetes-list-type';
export const LIST_KEYS = 'x-kubernetes-list-map-keys';
export const MAP_TYPE = 'x-kubernetes-map-type';

/** Fields of every object and embedded object that no schema needs to name. */
const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

export function isMetaField(name: string): boolean {
  return META_FIELDS.has(name);
}

export function itemsOf(schema: StructuralSchema | undefined): StructuralSchema | undefined {
  return isObject(schema?.items) ? (schema.items as StructuralSchema) : undefined;
}

/** The schema of members no property names: a schema, `true` for anything, undefined for none. */
export function additionalOf(schema: StructuralSchema | undefined): StructuralSchema | true | undefined {
  const additional = schema?.additionalProperties;
  if (isObject(additional)) return additional as StructuralSchema;
  return additional === true ? true : undefined;
}

export function propertyOf(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const { properties } = schema ?? {};
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
