import type { FieldSchema, StructSchema, TypeRef } from '../../../api/schema/index.ts';
import { isObject, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, tooManyObjects } from '../decode-error.ts';
import { FieldProblems } from '../field-problems.ts';
import { conformScalar, ScalarMismatch } from './scalars.ts';

/**
 * Makes parsed JSON what a typed decoder would have made of it, in place: unknown fields go, nulls and empty optional
 * values go, times and quantities take their canonical spelling. Returns the paths of the unknown fields in order, the
 * first of them when there are many.
 * Throws DecodeError where a value cannot become the type of its field.
 */
export function conform(object: JsonObject, struct: StructSchema): string[] {
  const conformer = new Conformer();
  conformer.struct(object, struct);
  return conformer.unknown.paths;
}

class Conformer {
  readonly unknown = new FieldProblems();
  /** Names of the fields on the way here, and indices; put together only when something is wrong. */
  readonly #way: (string | number)[] = [];

  struct(object: JsonObject, struct: StructSchema): void {
    for (const key in object) {
      const field = struct.properties.get(key);
      if (field === undefined) {
        this.unknown.add(() => this.#pathOf(key));
        delete object[key];
        continue;
      }
      const value = object[key];
      if (value === null || value === undefined) {
        delete object[key];
        continue;
      }
      this.#way.push(key);
      const conformed = this.#value(field.type, value, struct);
      this.#way.pop();
      if (isOmitted(field, conformed)) delete object[key];
      else if (conformed !== value) object[key] = conformed;
    }
  }

  #value(type: TypeRef, value: unknown, owner: StructSchema): unknown {
    switch (type.kind) {
      case 'scalar':
        return this.#scalar(type, value, owner);
      case 'struct':
        if (!isObject(value)) throw this.#mismatch(value, owner, goTypeOf(type));
        this.struct(value, type.struct());
        return value;
      case 'list':
        if (!Array.isArray(value)) throw this.#mismatch(value, owner, goTypeOf(type));
        this.#items(type.element, value, owner);
        return value;
      case 'map':
        if (!isObject(value)) throw this.#mismatch(value, owner, goTypeOf(type));
        this.#members(type.value, value, owner);
        return value;
    }
  }

  #items(element: TypeRef, list: unknown[], owner: StructSchema): void {
    if (element.kind === 'struct' && list.length > LIMITS.listedObjects) throw tooManyObjects(this.#pathOf());
    for (let at = 0; at < list.length; at++) {
      this.#way.push(at);
      list[at] = list[at] === null ? zeroOf(element) : this.#value(element, list[at], owner);
      this.#way.pop();
    }
  }

  #members(type: TypeRef, map: JsonObject, owner: StructSchema): void {
    // Type errors name fields, and the keys of a map are none.
    const named = type.kind !== 'scalar';
    for (const key in map) {
      const item = map[key];
      if (named) this.#way.push(key);
      const conformed = item === null ? zeroOf(type) : this.#value(type, item, owner);
      if (named) this.#way.pop();
      if (conformed !== item) setOwn(map, key, conformed);
    }
  }

  #scalar(type: Extract<TypeRef, { kind: 'scalar' }>, value: unknown, owner: StructSchema): unknown {
    // Strings are most of every object; they skip the general path.
    if (type.scalar === 'string' && typeof value === 'string') return value;
    try {
      return conformScalar(type.scalar, value);
    } catch (error) {
      if (!(error instanceof ScalarMismatch)) throw error;
      throw this.#mismatch(value, owner, error.goType);
    }
  }

  #pathOf(...more: string[]): string {
    let path = '';
    for (const step of [...this.#way, ...more]) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += path === '' ? step : `.${step}`;
    }
    return path;
  }

  #mismatch(value: unknown, owner: StructSchema, goType: string): DecodeError {
    const name = owner.id.slice(owner.id.indexOf('.') + 1);
    const path = this.#way.filter((step) => typeof step === 'string').join('.');
    return new DecodeError(
      `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${name}.${path} of type ${goType}`,
    );
  }
}

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
