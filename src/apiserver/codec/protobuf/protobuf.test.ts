import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSchema, type StructSchema, type TypeRef } from '../../../api/schema/index.ts';
import { splitApiVersion } from '../../../api/resource.ts';
import { deepClone, isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import { conform } from '../typed/conform.ts';
import { decodeProtobuf, encodeProtobuf } from './envelope.ts';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

interface Sample {
  kind: string;
  protobuf: string;
  json: JsonObject;
}

const packed = JSON.parse(readFileSync(new URL('./fixtures.generated.json', import.meta.url), 'utf8')) as {
  gzip: string;
};
const samples = JSON.parse(gunzipSync(Buffer.from(packed.gzip, 'base64')).toString('utf8')) as Sample[];
const schema = loadSchema();
const nothing = { apiVersion: '', kind: '' };

function structOf(object: JsonObject): StructSchema {
  const struct = schema.kind({ ...splitApiVersion(object.apiVersion as string), kind: object.kind as string });
  if (struct === undefined) throw new Error(`no struct for ${String(object.kind)}`);
  return struct;
}

/** What Go prints although it is unset: empty structs that are not pointers. */
function withoutEmptyStructs(object: JsonObject, struct: StructSchema): JsonObject {
  for (const [name, field] of struct.properties) {
    const value = object[name];
    if (value === undefined) continue;
    clean(value, field.type);
    const unset = field.type.kind === 'struct' && !field.pointer && field.omitEmpty && isObject(value);
    if (unset && Object.keys(value).length === 0) delete object[name];
  }
  return object;
}

function clean(value: unknown, type: TypeRef): void {
  if (type.kind === 'struct' && isObject(value)) withoutEmptyStructs(value, type.struct());
  else if (type.kind === 'list' && Array.isArray(value)) for (const item of value) clean(item, type.element);
  else if (type.kind === 'map' && isObject(value)) for (const item of Object.values(value)) clean(item, type.value);
}

test('the samples of the Go encoder cover many kinds', () => {
  expect(new Set(samples.map(({ kind }) => kind)).size).toBeGreaterThan(40);
});

test.each(samples.map((sample, index) => [`${sample.kind} #${index}`, sample] as const))(
  'decodeProtobuf() of %s is what Go prints as JSON, and encodes back',
  (_, { protobuf, json }) => {
    const want = deepClone(json);
    const struct = structOf(want);
    expect(conform(want, struct)).toEqual([]);
    withoutEmptyStructs(want, struct);
    const bytes = Buffer.from(protobuf, 'base64');
    const decoded = decodeProtobuf(bytes, schema, nothing);
    expect(withoutEmptyStructs(deepClone(decoded), struct)).toEqual(want);
    const encoded = encodeProtobuf(decoded, schema);
    if (encoded === undefined) throw new Error('must encode');
    expect(decodeProtobuf(encoded, schema, nothing)).toEqual(decoded);
  },
);

test('decodeProtobuf() takes the expected type when the envelope names none', () => {
  const bytes = Buffer.from('6b38730012021805', 'hex');
  expect(() => decodeProtobuf(bytes, schema, { apiVersion: 'v1', kind: 'Nothing' })).toThrow(DecodeError);
  expect(decodeProtobuf(bytes, schema, { apiVersion: 'v1', kind: 'DeleteOptions' })).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    orphanDependents: true,
  });
});

test.each([
  ['no envelope', '00'],
  ['an empty body', ''],
  ['a length beyond the end', '6b3873000aff01'],
  ['an endless varint', '6b387300ffffffffffffffffffffffffffff'],
  ['a group', '6b3873000b'],
])('decodeProtobuf() refuses %s', (_, hex) => {
  expect(() => decodeProtobuf(Buffer.from(hex, 'hex'), schema, { apiVersion: 'v1', kind: 'Pod' })).toThrow(DecodeError);
});

test('decodeProtobuf() refuses damaged bodies with DecodeError, or reads them; it never fails otherwise', () => {
  const damage = fc.record({
    sample: fc.constantFrom(...samples),
    cut: fc.nat(400),
    flips: fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(damage, ({ sample, cut, flips }) => {
      const bytes = Buffer.from(sample.protobuf, 'base64');
      for (const [at, value] of flips) bytes[4 + (at % (bytes.length - 4))] = value;
      try {
        decodeProtobuf(bytes.subarray(0, Math.max(0, bytes.length - cut)), schema, { apiVersion: 'v1', kind: 'Pod' });
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('decodeProtobuf() refuses absurd nesting', () => {
  let openAPIV3Schema: JsonObject = {};
  for (let i = 0; i < 1500; i++) openAPIV3Schema = { not: openAPIV3Schema };
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema } }] },
  };
  const bytes = encodeProtobuf(object, schema);
  if (bytes === undefined) throw new Error('must encode');
  expect(() => decodeProtobuf(bytes, schema, nothing)).toThrow('nested too deeply');
});

test.each([
  ['0s', 0n],
  ['1.5s', 1_500_000_000n],
  ['1h0m0s', 3_600_000_000_000n],
  ['2m0.5s', 120_500_000_000n],
  ['250ms', 250_000_000n],
  ['-1m0s', -60_000_000_000n],
  ['5ns', 5n],
])('durations print as Go prints them: %s', (text, nanoseconds) => {
  expect(formatGoDuration(nanoseconds)).toBe(text);
  expect(parseGoDuration(text)).toBe(nanoseconds);
});

test.each([
  ['containers that say nothing', Buffer.from([0x12, 0x00]), 50_000],
  ['fields that nobody knows', Buffer.from([0xf8, 0x07, 0x00]), 200_000],
])('17.11: decodeProtobuf() refuses very many %s', (_, each, count) => {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(value >> 7)]);
  const field = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([number * 8 + 2, ...varint(content.length)]), content]);
  const spec = Buffer.concat(Array.from({ length: count }, () => each));
  const type = field(1, Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('Pod'))]));
  const body = Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x00]), type, field(2, field(2, spec))]);
  const decode = () => decodeProtobuf(body, loadSchema(), { apiVersion: 'v1', kind: 'Pod' });
  expect(decode).toThrow(/^Request entity too large/);
});
