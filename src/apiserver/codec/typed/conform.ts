import type { FieldSchema, StructSchema, TypeRef } from '../../../api/schema/index.ts';
import { isObject, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import { conformScalar, ScalarMismatch } from './scalars.ts';

/**
 * Makes parsed JSON what a typed decoder would have made of it, in place: unknown fields go, nulls and empty optional
 * values go, times and quantities take their canonical spelling. Returns the paths of the unknown fields in order.
 * Throws DecodeError where a value cannot become the type of its field.
 */
export function conform(object: JsonObject, struct: StructSchema): string[] {
  const unknown: string[] = [];
  new Conformer(unknown).struct(object, struct, '');
  return unknown;
}

class Conformer {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  struct(object: JsonObject, struct: StructSchema, path: string): void {
    for (const key of Object.keys(object)) {
      const field = struct.properties.get(key);
      if (field === undefined) {
        this.#unknown.push(join(path, key));
        delete object[key];
        continue;
      }
      const value = object[key];
      if (value === null || value === undefined) {
        delete object[key];
        continue;
      }
      const { type } = field;
      const conformed =
        type.kind === 'scalar'
          ? this.#scalar(type, value, struct, path, key)
          : this.#value(type, value, struct, join(path, key));
      if (isOmitted(field, conformed)) delete object[key];
      else if (conformed !== value) object[key] = conformed;
    }
  }

  #value(type: TypeRef, value: unknown, owner: StructSchema, path: string): unknown {
    switch (type.kind) {
      case 'scalar':
        return this.#scalar(type, value, owner, path, undefined);
      case 'struct':
        if (!isObject(value)) throw mismatch(value, owner, path, goTypeOf(type));
        this.struct(value, type.struct(), path);
        return value;
      case 'list':
        if (!Array.isArray(value)) throw mismatch(value, owner, path, goTypeOf(type));
        for (let i = 0; i < value.length; i++) {
          value[i] =
            value[i] === null ? zeroOf(type.element) : this.#value(type.element, value[i], owner, `${path}[${i}]`);
        }
        return value;
      case 'map':
        if (!isObject(value)) throw mismatch(value, owner, path, goTypeOf(type));
        for (const key of Object.keys(value)) {
          const item = value[key];
          // Type errors name fields, and the keys of a map are none.
          const at = type.value.kind === 'scalar' ? path : `${path}.${key}`;
          setOwn(value, key, item === null ? zeroOf(type.value) : this.#value(type.value, item, owner, at));
        }
        return value;
    }
  }

  #scalar(
    type: Extract<TypeRef, { kind: 'scalar' }>,
    value: unknown,
    owner: StructSchema,
    path: string,
    key: string | undefined,
  ): unknown {
    // Strings are most of every object; they skip the general path.
    if (type.scalar === 'string' && typeof value === 'string') return value;
    try {
      return conformScalar(type.scalar, value);
    } catch (error) {
      if (!(error instanceof ScalarMismatch)) throw error;
      throw mismatch(value, owner, key === undefined ? path : join(path, key), error.goType);
    }
  }
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** What Go's `omitempty` leaves out. Structs stay, as Go writes them even when empty. */
function isOmitted(field: FieldSchema, value: unknown): boolean {
  if (!field.omitEmpty || field.pointer) return false;
  switch (typeof value) {
    case 'string':
      return value === '';
    case 'number':
      return value === 0 && field.type.kind === 'scalar' && field.type.scalar !== 'intOrString';
    case 'boolean':
      return !value;
    case 'object':
      if (Array.isArray(value)) return value.length === 0;
      return field.type.kind === 'map' && Object.keys(value as object).length === 0;
    default:
      return false;
  }
}

function zeroOf(type: TypeRef): unknown {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return {};
    case 'list':
      return [];
    case 'scalar':
      switch (type.scalar) {
        case 'bool':
          return false;
        case 'int32':
        case 'int64':
        case 'float64':
        case 'intOrString':
          return 0;
        case 'quantity':
          return '0';
        case 'string':
        case 'bytes':
          return '';
        default:
          return null;
      }
  }
}

function mismatch(value: unknown, owner: StructSchema, path: string, goType: string): DecodeError {
  const name = owner.id.slice(owner.id.indexOf('.') + 1);
  return new DecodeError(
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${name}.${path.replaceAll(/\[\d+\]/g, '')} of type ${goType}`,
  );
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value;
}

function goTypeOf(type: TypeRef): string {
  switch (type.kind) {
    case 'struct': {
      const dot = type.id.indexOf('.');
      const [, version = ''] = type.id.slice(0, dot).split('/');
      return `${version}.${type.id.slice(dot + 1)}`;
    }
    case 'list':
      return `[]${goTypeOf(type.element)}`;
    case 'map':
      return `map[string]${goTypeOf(type.value)}`;
    case 'scalar':
      return type.scalar;
  }
}
