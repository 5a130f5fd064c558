import type { Schema } from '../../../api/schema/index.ts';
import { splitApiVersion } from '../../../api/resource.ts';
import type { JsonObject } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import { decodeStruct } from './decode.ts';
import { encodeStruct } from './encode.ts';
import { ProtobufReader } from './reader.ts';
import { Writer } from './writer.ts';

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

export interface TypeName {
  readonly apiVersion: string;
  readonly kind: string;
}

function isProtobuf(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && MAGIC.every((byte, index) => bytes[index] === byte);
}

/** By their numbers, as errors name them. */
const ENVELOPE_FIELDS = ['', 'TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'];
const TYPE_FIELDS = ['', 'APIVersion', 'Kind'];

/** Each field that the envelope has is one of bytes. */
function expectBytes(wire: number, field: string | undefined): void {
  if (field !== undefined && wire !== 2) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${field}`);
}

function openEnvelope(bytes: Uint8Array): Envelope {
  if (!isProtobuf(bytes)) {
    throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (bytes.length === MAGIC.length) throw new DecodeError('empty body');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = new ProtobufReader(buffer, MAGIC.length);
  let [apiVersion, kind, raw] = ['', '', Buffer.alloc(0)];
  while (!reader.done) {
    const { number, wire } = reader.tag();
    expectBytes(wire, ENVELOPE_FIELDS[number]);
    if (number === 1) {
      const type = reader.message();
      while (!type.done) {
        const tag = type.tag();
        expectBytes(tag.wire, TYPE_FIELDS[tag.number]);
        if (tag.number === 1) apiVersion = type.text();
        else if (tag.number === 2) kind = type.text();
        else type.skip(tag.wire);
      }
    } else if (number === 2) raw = reader.slice() as Buffer<ArrayBuffer>;
    else if (number === 3) {
      if (reader.text() !== '') throw new DecodeError('content encoding of protobuf objects is not supported');
    } else reader.skip(wire);
  }
  return { apiVersion, kind, raw };
}

/** Reads an object in Kubernetes' protobuf envelope; a type the sender left out is the expected one. */
export function decodeProtobuf(bytes: Uint8Array, schema: Schema, expected: TypeName): JsonObject {
  const { raw, ...named } = openEnvelope(bytes);
  const apiVersion = named.apiVersion || expected.apiVersion;
  const kind = named.kind || expected.kind;
  const struct = schema.kind({ ...splitApiVersion(apiVersion), kind });
  if (struct === undefined) {
    throw new DecodeError(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  }
  const object: JsonObject = { kind, apiVersion };
  return decodeStruct(new ProtobufReader(raw), struct, 0, object);
}

/** Writes a built-in object in Kubernetes' protobuf envelope; undefined when its kind has no protobuf form. */
export function encodeProtobuf(object: JsonObject, schema: Schema): Buffer | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const struct = schema.kind({ ...splitApiVersion(apiVersion), kind });
  if (struct === undefined || struct.numbers.size === 0) return undefined;
  // Written back to front, so the parts come in reverse.
  const writer = new Writer();
  writer.text(4, '');
  writer.text(3, '');
  const rawEnd = writer.mark();
  encodeStruct(writer, object, struct);
  writer.close(2, rawEnd);
  const typeEnd = writer.mark();
  writer.text(2, kind);
  writer.text(1, apiVersion);
  writer.close(1, typeEnd);
  writer.raw(MAGIC);
  return writer.finish();
}
