import {
  type FieldSchema,
  loadSchema,
  type ScalarName,
  type StructSchema,
  type TypeRef,
} from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { parseGoDuration } from './go-duration.ts';
import type { Writer } from './writer.ts';

/** Writes the fields of an object, last first. Values of the wrong type are left out: stored objects have none. */
export function encodeStruct(writer: Writer, object: JsonObject, struct: StructSchema): void {
  for (let i = struct.fields.length - 1; i >= 0; i--) {
    const field = struct.fields[i] as FieldSchema;
    if (field.number === 0) continue;
    if (field.inline && field.type.kind === 'struct') {
      const mark = writer.mark();
      encodeStruct(writer, object, field.type.struct());
      writer.close(field.number, mark);
      continue;
    }
    const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    if (value !== undefined && value !== null) encodeField(writer, field.number, field.type, value);
  }
}

function encodeField(writer: Writer, number: number, type: TypeRef, value: unknown): void {
  switch (type.kind) {
    case 'struct':
      if (isObject(value)) encodeMessage(writer, number, () => encodeStruct(writer, value, type.struct()));
      return;
    case 'list': {
      if (!Array.isArray(value)) return;
      const items = (at: number): void => {
        for (let i = value.length - 1; i >= 0; i--) encodeField(writer, at, type.element, value[i] ?? {});
      };
      if (type.wrapped) encodeMessage(writer, number, () => items(1));
      else items(number);
      return;
    }
    case 'map':
      if (!isObject(value)) return;
      for (const key of Object.keys(value).reverse()) {
        encodeMessage(writer, number, () => {
          encodeField(writer, 2, type.value, value[key]);
          writer.text(1, key);
        });
      }
      return;
    case 'scalar':
      encodeScalar(writer, number, type.scalar, value);
  }
}

function encodeMessage(writer: Writer, number: number, content: () => void): void {
  const mark = writer.mark();
  content();
  writer.close(number, mark);
}

function encodeScalar(writer: Writer, number: number, scalar: ScalarName, value: unknown): void {
  switch (scalar) {
    case 'string':
      if (typeof value === 'string') writer.text(number, value);
      return;
    case 'bytes':
      if (typeof value === 'string') writer.bytes(number, Buffer.from(value, 'base64'));
      return;
    case 'bool':
      writer.integer(number, value === true ? 1 : 0);
      return;
    case 'int32':
    case 'int64':
      if (typeof value === 'number') writer.integer(number, Math.trunc(value));
      return;
    case 'float64':
      if (typeof value === 'number') writer.double(number, value);
      return;
    default:
      encodeMessage(writer, number, () => encodeMessageScalar(writer, scalar, value));
  }
}

/** The inverse of decodeMessageScalar. */
function encodeMessageScalar(writer: Writer, scalar: ScalarName, value: unknown): void {
  switch (scalar) {
    case 'time':
    case 'microtime':
      if (typeof value === 'string') encodeTime(writer, value, scalar === 'microtime');
      return;
    case 'duration':
      if (typeof value === 'string') writer.integer(1, parseGoDuration(value));
      return;
    case 'quantity':
      if (typeof value === 'string' || typeof value === 'number') writer.text(1, String(value));
      return;
    case 'intOrString':
      if (typeof value === 'string') writer.text(3, value);
      else if (typeof value === 'number') writer.integer(2, value);
      writer.integer(1, typeof value === 'string' ? 1 : 0);
      return;
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      writer.text(1, JSON.stringify(value));
      return;
    default:
      encodeSchemaUnion(writer, scalar, value);
  }
}

function encodeTime(writer: Writer, text: string, micro: boolean): void {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return;
  const fraction = micro ? (/\.(\d+)/.exec(text)?.[1] ?? '') : '';
  writer.integer(2, Number(fraction.slice(0, 9).padEnd(9, '0')));
  writer.integer(1, Math.floor(ms / 1000));
}

function encodeSchemaUnion(writer: Writer, scalar: ScalarName, value: unknown): void {
  const props = loadSchema().struct('apiextensions/v1.JSONSchemaProps');
  const schema = (number: number, item: unknown): void => {
    if (isObject(item)) encodeMessage(writer, number, () => encodeStruct(writer, item, props));
  };
  if (Array.isArray(value)) {
    for (const item of (value as unknown[]).toReversed()) {
      if (typeof item === 'string') writer.text(2, item);
      else schema(2, item);
    }
  } else if (scalar === 'schemaOrBool') {
    schema(2, value);
    writer.integer(1, value === true || isObject(value) ? 1 : 0);
  } else schema(1, value);
}
