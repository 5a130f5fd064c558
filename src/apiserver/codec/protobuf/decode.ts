import type { FieldSchema, ScalarName, StructSchema, TypeRef } from '../../../api/schema/index.ts';
import { type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, tooManyObjects } from '../decode-error.ts';
import type { ProtobufReader } from './reader.ts';
import { decodeMessageScalar } from './special.ts';

const MAX_MESSAGES_DEEP = 300;

const VARINTS = new Set<ScalarName>(['int32', 'int64', 'bool']);

/** Decodes a message into the JSON form of its struct: embedded structs flattened, unset optional values left out. */
export function decodeStruct(
  reader: ProtobufReader,
  struct: StructSchema,
  depth = 0,
  into: JsonObject = {},
): JsonObject {
  if (depth > MAX_MESSAGES_DEEP) throw new DecodeError('proto: message is nested too deeply');
  while (!reader.done) {
    const { number, wire } = reader.tag();
    const field = struct.numbers.get(number);
    if (field === undefined) reader.skip(wire);
    else if (field.inline && field.type.kind === 'struct') {
      expectWire(wire, 2, field);
      decodeStruct(reader.message(), field.type.struct(), depth + 1, into);
    } else decodeField(reader, wire, field, into, depth);
  }
  dropUnset(into, struct);
  return into;
}

function decodeField(reader: ProtobufReader, wire: number, field: FieldSchema, into: JsonObject, depth: number): void {
  const { type, name } = field;
  const before = into[name];
  switch (type.kind) {
    case 'list': {
      if (type.wrapped) {
        expectWire(wire, 2, field);
        into[name] = decodeWrapped(reader.message(), type.element, field, depth);
        return;
      }
      const list = Array.isArray(before) ? (before as unknown[]) : [];
      if (wire === 2 && type.element.kind === 'scalar' && VARINTS.has(type.element.scalar)) {
        for (const packed = reader.message(); !packed.done; )
          list.push(scalarAt(packed, 0, type.element.scalar, field, depth));
      } else list.push(decodeValue(reader, wire, type.element, field, depth) ?? null);
      if (type.element.kind === 'struct' && list.length > LIMITS.listedObjects) throw tooManyObjects(name);
      into[name] = list;
      return;
    }
    case 'map': {
      expectWire(wire, 2, field);
      const map = (before ?? {}) as JsonObject;
      const [key, value] = decodeEntry(reader.message(), type.value, field, depth);
      setOwn(map, key, value);
      into[name] = map;
      return;
    }
    case 'struct':
      expectWire(wire, 2, field);
      into[name] = decodeStruct(reader.message(), type.struct(), depth + 1, (before ?? {}) as JsonObject);
      return;
    case 'scalar': {
      const value = scalarAt(reader, wire, type.scalar, field, depth);
      if (value !== undefined) into[name] = value;
    }
  }
}

function decodeValue(reader: ProtobufReader, wire: number, type: TypeRef, field: FieldSchema, depth: number): unknown {
  if (type.kind === 'scalar') return scalarAt(reader, wire, type.scalar, field, depth);
  expectWire(wire, 2, field);
  if (type.kind === 'struct') return decodeStruct(reader.message(), type.struct(), depth + 1);
  if (type.kind === 'list') return decodeWrapped(reader.message(), type.element, field, depth);
  throw new DecodeError(`proto: field ${field.name} has a type that cannot be repeated`);
}

/** A list that is a message of its own, its items in field 1. */
function decodeWrapped(reader: ProtobufReader, element: TypeRef, field: FieldSchema, depth: number): unknown[] {
  const list: unknown[] = [];
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (number === 1) list.push(decodeValue(reader, wire, element, field, depth + 1) ?? null);
    else reader.skip(wire);
  }
  return list;
}

function decodeEntry(
  reader: ProtobufReader,
  type: TypeRef,
  field: FieldSchema,
  depth: number,
): [key: string, value: unknown] {
  let key = '';
  let value: unknown;
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (number === 1 && wire === 2) key = reader.text();
    else if (number === 2) value = decodeValue(reader, wire, type, field, depth + 1);
    else reader.skip(wire);
  }
  return [key, value ?? emptyValue(type)];
}

function emptyValue(type: TypeRef): unknown {
  if (type.kind === 'list') return [];
  if (type.kind !== 'scalar') return {};
  switch (type.scalar) {
    case 'string':
    case 'bytes':
      return '';
    case 'quantity':
      return '0';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'float64':
      return 0;
    default:
      return null;
  }
}

function scalarAt(
  reader: ProtobufReader,
  wire: number,
  scalar: ScalarName,
  field: FieldSchema,
  depth: number,
): unknown {
  switch (scalar) {
    case 'string':
      expectWire(wire, 2, field);
      return reader.text();
    case 'bytes':
      expectWire(wire, 2, field);
      return reader.base64();
    case 'bool':
      expectWire(wire, 0, field);
      return reader.signed() !== 0;
    case 'int32':
      expectWire(wire, 0, field);
      return reader.signed() | 0;
    case 'int64':
      expectWire(wire, 0, field);
      return reader.signed();
    case 'float64': {
      expectWire(wire, 1, field);
      const value = reader.double();
      if (!Number.isFinite(value)) throw new DecodeError(`proto: field ${field.name} is not a finite number`);
      return value;
    }
    default:
      expectWire(wire, 2, field);
      return decodeMessageScalar(reader.message(), scalar, (inner, struct) => decodeStruct(inner, struct, depth + 1));
  }
}

function expectWire(wire: number, expected: number, { name }: FieldSchema): void {
  if (wire !== expected) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${name}`);
}

/** Senders write unset optional values as empty ones; JSON has no place for them. */
function dropUnset(object: JsonObject, struct: StructSchema): void {
  for (const { name, omitEmpty, pointer, inline, type } of struct.fields) {
    if (inline || !omitEmpty || pointer) continue;
    const value = object[name];
    if (value === '' || value === 0 || value === false) {
      if (type.kind === 'scalar' && type.scalar !== 'intOrString') delete object[name];
    } else if (type.kind === 'struct' && value !== undefined && Object.keys(value as object).length === 0) {
      delete object[name];
    }
  }
}
