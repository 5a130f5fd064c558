import { loadSchema, type ScalarName, type StructSchema } from '../../../api/schema/index.ts';
import { canonicalQuantity, type JsonObject, QuantityError } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import { parseJson } from '../json/parse.ts';
import { formatGoDuration } from './go-duration.ts';
import type { ProtobufReader } from './reader.ts';

type DecodeStruct = (reader: ProtobufReader, struct: StructSchema) => JsonObject;

/** Messages whose JSON is not an object of their fields. Undefined means unset. */
export function decodeMessageScalar(reader: ProtobufReader, scalar: ScalarName, decodeStruct: DecodeStruct): unknown {
  switch (scalar) {
    case 'time':
      return decodeTime(reader, false);
    case 'microtime':
      return decodeTime(reader, true);
    case 'duration':
      return formatGoDuration(BigInt(Math.trunc(decodeNumbers(reader).get(1) ?? 0)));
    case 'quantity':
      return decodeQuantity(decodeRaw(reader)?.toString('utf8') ?? '0');
    case 'intOrString':
      return decodeIntOrString(reader);
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      return decodeEmbeddedJson(decodeRaw(reader));
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStringArray':
      return decodeSchemaUnion(reader, scalar, decodeStruct);
    default:
      throw new DecodeError(`proto: no message form of ${scalar}`);
  }
}

function decodeNumbers(reader: ProtobufReader): Map<number, number> {
  const values = new Map<number, number>();
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (wire === 0) values.set(number, reader.signed());
    else reader.skip(wire);
  }
  return values;
}

/** The bytes in field 1, if any. */
function decodeRaw(reader: ProtobufReader): Buffer | undefined {
  let raw: Buffer | undefined;
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (number === 1 && wire === 2) raw = reader.slice();
    else reader.skip(wire);
  }
  return raw;
}

const YEAR_0 = -62_167_219_200;
const YEAR_10000 = 253_402_300_800;

/** An empty message is the zero time, which JSON leaves out. */
function decodeTime(reader: ProtobufReader, micro: boolean): string | undefined {
  if (reader.done) return undefined;
  const values = decodeNumbers(reader);
  const seconds = values.get(1) ?? 0;
  const nanos = values.get(2) ?? 0;
  if (seconds < YEAR_0 || seconds >= YEAR_10000 || nanos < 0 || nanos > 999_999_999) {
    throw new DecodeError(`proto: time out of range: ${seconds} seconds, ${nanos} nanoseconds`);
  }
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z` : `${whole}Z`;
}

function decodeQuantity(text: string): string {
  try {
    return canonicalQuantity(text === '' ? '0' : text);
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message, { cause: error });
    throw error;
  }
}

function decodeIntOrString(reader: ProtobufReader): number | string {
  let isString = false;
  let number = 0;
  let text = '';
  while (!reader.done) {
    const tag = reader.tag();
    if (tag.number === 1 && tag.wire === 0) isString = reader.signed() === 1;
    else if (tag.number === 2 && tag.wire === 0) number = reader.signed() | 0;
    else if (tag.number === 3 && tag.wire === 2) text = reader.text();
    else reader.skip(tag.wire);
  }
  return isString ? text : number;
}

function decodeEmbeddedJson(raw: Buffer | undefined): unknown {
  if (raw === undefined || raw.length === 0) return undefined;
  const { value } = parseJson(raw.toString('utf8'));
  return value ?? undefined;
}

/** JSONSchemaProps or something simpler in its place: field 1 and 2 hold either. */
function decodeSchemaUnion(reader: ProtobufReader, scalar: ScalarName, decodeStruct: DecodeStruct): unknown {
  const props = loadSchema().struct('apiextensions/v1.JSONSchemaProps');
  const schemaField = scalar === 'schemaOrBool' ? 2 : 1;
  let schema: JsonObject | undefined;
  let allows = false;
  const items: unknown[] = [];
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (number === schemaField && wire === 2) schema = decodeStruct(reader.message(), props);
    else if (scalar === 'schemaOrBool' && number === 1 && wire === 0) allows = reader.signed() !== 0;
    else if (scalar === 'schemaOrArray' && number === 2 && wire === 2)
      items.push(decodeStruct(reader.message(), props));
    else if (scalar === 'schemaOrStringArray' && number === 2 && wire === 2) items.push(reader.text());
    else reader.skip(wire);
  }
  if (items.length > 0) return items;
  return schema ?? (scalar === 'schemaOrBool' ? allows : undefined);
}
