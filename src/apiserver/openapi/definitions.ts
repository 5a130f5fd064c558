import { describeField, describeType } from '../../api/schema/descriptions.ts';
import type { FieldSchema, Schema, ScalarName, StructSchema, TypeRef } from '../../api/schema/index.ts';
import type { JsonObject } from '../../machinery/values/index.ts';
import { type Dialect, refWith } from './dialect.ts';
import { SIMPLE_SCHEMAS, SPECIAL_NAMES, specialDefinition } from './special-definitions.ts';

/** The definitions of built-in types, built when first asked for. */
export class BuiltinDefinitions {
  readonly #schema: Schema;
  readonly #kindsOf = new Map<string, JsonObject[]>();
  readonly #built = new Map<string, JsonObject>();
  readonly #reachable = new Map<string, ReadonlySet<string>>();

  constructor(schema: Schema) {
    this.#schema = schema;
    for (const kind of schema.kinds()) {
      const id = schema.kind(kind)?.id;
      if (id === undefined) continue;
      const names = this.#kindsOf.get(id) ?? [];
      names.push({ ...kind });
      this.#kindsOf.set(id, names);
    }
  }

  /** A type and all types it refers to, as ids of structs and names of scalars. */
  reachable(id: string): ReadonlySet<string> {
    let found = this.#reachable.get(id);
    if (found === undefined) {
      const seen = new Set<string>();
      const queue = [id];
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        if (seen.has(next)) continue;
        seen.add(next);
        if (!next.includes('.')) continue;
        for (const field of this.#schema.struct(next).properties.values()) queue.push(...leavesOf(field.type));
      }
      found = seen;
      this.#reachable.set(id, found);
    }
    return found;
  }

  nameOf(id: string): string {
    return id.includes('.') ? this.#schema.struct(id).openapiName : (SPECIAL_NAMES[id as ScalarName] ?? id);
  }

  definition(id: string, dialect: Dialect): JsonObject {
    const key = `${dialect} ${id}`;
    let built = this.#built.get(key);
    if (built === undefined) {
      built = id.includes('.')
        ? this.#structDefinition(this.#schema.struct(id), dialect)
        : specialDefinition(id as ScalarName, dialect);
      this.#built.set(key, built);
    }
    return built;
  }

  #structDefinition(struct: StructSchema, dialect: Dialect): JsonObject {
    const properties: JsonObject = {};
    const required: string[] = [];
    for (const [name, field] of struct.properties) {
      properties[name] = propertySchema(field, dialect, describeField(struct.id, name));
      if (field.required) required.push(name);
    }
    const description = describeType(struct.id);
    const kinds = this.#kindsOf.get(struct.id);
    return {
      ...(description !== undefined && { description }),
      type: 'object',
      ...(required.length > 0 && { required: required.sort() }),
      ...(struct.properties.size > 0 && { properties }),
      ...(kinds !== undefined && { 'x-kubernetes-group-version-kind': kinds }),
      ...(struct.atomic && { 'x-kubernetes-map-type': 'atomic' }),
    };
  }
}

/** The structs and special scalars a type is made of. */
function leavesOf(type: TypeRef): string[] {
  switch (type.kind) {
    case 'struct':
      return [type.id];
    case 'list':
      return leavesOf(type.element);
    case 'map':
      return leavesOf(type.value);
    case 'scalar': {
      if (SPECIAL_NAMES[type.scalar] === undefined) return [];
      return type.scalar.startsWith('schemaOr') ? [type.scalar, 'apiextensions/v1.JSONSchemaProps'] : [type.scalar];
    }
  }
}

function propertySchema(field: FieldSchema, dialect: Dialect, description: string | undefined): JsonObject {
  const extra: JsonObject = {
    ...(description !== undefined && { description }),
    ...(field.default !== undefined && { default: field.default }),
    ...(field.enum !== undefined && field.type.kind === 'scalar' && { enum: field.enum }),
    ...(field.listMapKeys !== undefined && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.listType !== undefined && { 'x-kubernetes-list-type': field.listType }),
    ...(field.mapType !== undefined && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchMergeKey !== undefined && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.patchStrategy !== undefined && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
  };
  return typeSchema(field.type, dialect, extra);
}

function typeSchema(type: TypeRef, dialect: Dialect, extra: JsonObject): JsonObject {
  switch (type.kind) {
    case 'list':
      return { ...extra, type: 'array', items: typeSchema(type.element, dialect, {}) };
    case 'map':
      return { ...extra, type: 'object', additionalProperties: typeSchema(type.value, dialect, {}) };
    case 'struct':
      return refWith(type.struct().openapiName, extra, dialect);
    case 'scalar': {
      const name = SPECIAL_NAMES[type.scalar];
      return name === undefined ? { ...extra, ...SIMPLE_SCHEMAS[type.scalar] } : refWith(name, extra, dialect);
    }
  }
}
