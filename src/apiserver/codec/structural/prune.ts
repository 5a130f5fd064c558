import { loadSchema } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import { FieldProblems } from '../field-problems.ts';
import { conform } from '../typed/conform.ts';
import { additionalOf, EMBEDDED, isMetaField, itemsOf, PRESERVE, propertyOf, type StructuralSchema } from './schema.ts';

/**
 * Drops the fields a structural schema does not specify, in place, and returns their paths in order. `metadata` of the
 * object and of embedded objects is ObjectMeta; below `x-kubernetes-preserve-unknown-fields` unknown fields stay.
 * Throws DecodeError when metadata is malformed.
 */
export function pruneCustom(object: JsonObject, schema: StructuralSchema | undefined): string[] {
  const unknown = new FieldProblems();
  pruneObject(object, schema ?? { [PRESERVE]: true }, '', true, unknown);
  return unknown.paths;
}

function prune(value: unknown, schema: StructuralSchema | undefined, path: string, unknown: FieldProblems): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items === undefined && schema?.[PRESERVE] === true) return;
    for (let i = 0; i < value.length; i++) prune(value[i], items, `${path}[${i}]`, unknown);
  } else if (isObject(value)) pruneObject(value, schema, path, schema?.[EMBEDDED] === true, unknown);
}

function pruneObject(
  object: JsonObject,
  schema: StructuralSchema | undefined,
  path: string,
  isResource: boolean,
  unknown: FieldProblems,
): void {
  const additional = additionalOf(schema);
  for (const key of Object.keys(object)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (isResource && isMetaField(key)) {
      if (key === 'metadata') pruneMetadata(object, at, unknown);
      continue;
    }
    const property = propertyOf(schema, key) ?? additional;
    if (property === true) continue;
    if (property !== undefined) prune(object[key], property, at, unknown);
    else if (schema?.[PRESERVE] !== true) {
      unknown.add(() => at);
      delete object[key];
    }
  }
}

function pruneMetadata(object: JsonObject, path: string, unknown: FieldProblems): void {
  const { metadata } = object;
  if (!isObject(metadata)) {
    // Of an embedded object the schema says what is wrong.
    if (path !== 'metadata' || metadata === undefined || metadata === null) return;
    const type = Array.isArray(metadata) ? 'array' : typeof metadata;
    throw new DecodeError(`json: cannot unmarshal ${type} into Go struct field .metadata of type v1.ObjectMeta`);
  }
  for (const field of conform(metadata, loadSchema().struct('meta/v1.ObjectMeta'))) {
    unknown.add(() => `${path}.${field}`);
  }
}
