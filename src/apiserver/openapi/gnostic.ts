/** OpenAPI version 2 in the protobuf form of gnostic, which kubectl up to 1.28 asks for. */
import { isObject, type JsonObject } from '../../machinery/values/index.ts';
import { Writer } from '../codec/protobuf/writer.ts';

type Encode = (writer: Writer, number: number, value: unknown) => void;

interface Message {
  /** By JSON name: protobuf number and how the value is written. */
  readonly fields: Readonly<Record<string, readonly [number: number, encode: Encode]>>;
  /** Where members that start with `x-` go. */
  readonly extensions?: number;
}

const text: Encode = (writer, number, value) => typeof value === 'string' && writer.text(number, value);
const flag: Encode = (writer, number, value) => value === true && writer.integer(number, 1);
const whole: Encode = (writer, number, value) => typeof value === 'number' && writer.integer(number, value);
const double: Encode = (writer, number, value) => typeof value === 'number' && writer.double(number, value);

/** Any value, as YAML; JSON is YAML. */
const any: Encode = (writer, number, value) =>
  wrap(writer, number, () => writer.text(2, JSON.stringify(value ?? null)));

function wrap(writer: Writer, number: number, content: () => void): void {
  const mark = writer.mark();
  content();
  writer.close(number, mark);
}

const list =
  (encode: Encode): Encode =>
  (writer, number, value) => {
    if (Array.isArray(value)) for (const item of value.toReversed()) encode(writer, number, item);
  };

const message =
  (type: () => Message): Encode =>
  (writer, number, value) => {
    if (isObject(value)) wrap(writer, number, () => writeMessage(writer, type(), value));
  };

/** An object as repeated name and value. */
const named =
  (encode: Encode): Encode =>
  (writer, number, value) => {
    if (!isObject(value)) return;
    for (const name of Object.keys(value).reverse()) {
      wrap(writer, number, () => {
        encode(writer, 2, value[name]);
        writer.text(1, name);
      });
    }
  };

/** A message around one field. */
const inside =
  (inner: number, encode: Encode): Encode =>
  (writer, number, value) =>
    wrap(writer, number, () => encode(writer, inner, value));

function writeMessage(writer: Writer, { fields, extensions }: Message, value: JsonObject): void {
  if (extensions !== undefined) {
    const extra = Object.fromEntries(Object.entries(value).filter(([name]) => name.startsWith('x-')));
    named(any)(writer, extensions, extra);
  }
  for (const name of Object.keys(fields).reverse()) {
    const [number, encode] = fields[name] as readonly [number, Encode];
    if (value[name] !== undefined) encode(writer, number, value[name]);
  }
}

const schema: Encode = message(() => SCHEMA);

const SCHEMA: Message = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, whole],
    minLength: [12, whole],
    pattern: [13, text],
    maxItems: [14, whole],
    minItems: [15, whole],
    uniqueItems: [16, flag],
    maxProperties: [17, whole],
    minProperties: [18, whole],
    required: [19, list(text)],
    enum: [20, list(any)],
    additionalProperties: [
      21,
      (writer, number, value) =>
        wrap(writer, number, () => (isObject(value) ? schema(writer, 1, value) : flag(writer, 2, value))),
    ],
    type: [22, inside(1, text)],
    items: [23, inside(1, schema)],
    allOf: [24, list(schema)],
    properties: [25, inside(1, named(schema))],
  },
  extensions: 31,
};

const QUERY_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  },
};
const PATH_PARAMETER: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  },
};
const BODY_PARAMETER: Message = {
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
};

/** ParametersItem{parameter: Parameter{body | nonBody{query | path}}}. */
const parameter: Encode = (writer, number, value) => {
  if (!isObject(value)) return;
  const place = value.in;
  const encode =
    place === 'body'
      ? inside(
          1,
          message(() => BODY_PARAMETER),
        )
      : inside(
          2,
          place === 'path'
            ? inside(
                4,
                message(() => PATH_PARAMETER),
              )
            : inside(
                3,
                message(() => QUERY_PARAMETER),
              ),
        );
  wrap(writer, number, () => encode(writer, 1, value));
};

const RESPONSE: Message = { fields: { description: [1, text], schema: [2, inside(1, schema)] } };

const OPERATION: Message = {
  fields: {
    description: [3, text],
    operationId: [5, text],
    produces: [6, list(text)],
    consumes: [7, list(text)],
    parameters: [8, list(parameter)],
    responses: [
      9,
      inside(
        1,
        named(
          inside(
            1,
            message(() => RESPONSE),
          ),
        ),
      ),
    ],
  },
  extensions: 13,
};

const operation: Encode = message(() => OPERATION);

const PATH_ITEM: Message = {
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    patch: [8, operation],
    parameters: [9, list(parameter)],
  },
};

const INFO: Message = { fields: { title: [1, text], version: [2, text] } };

const DOCUMENT: Message = {
  fields: {
    swagger: [1, text],
    info: [2, message(() => INFO)],
    paths: [8, inside(2, named(message(() => PATH_ITEM)))],
    definitions: [9, inside(1, named(schema))],
  },
};

/**
 * Encodes a document or a part of one. Parts written one after the other are the document that holds all of them,
 * since protobuf merges what comes twice.
 */
export function encodeDocument(document: JsonObject): Buffer {
  const writer = new Writer(4 * 1024);
  writeMessage(writer, DOCUMENT, document);
  return writer.finish();
}
