/** Decoders and the small languages: JSON, YAML, protobuf, selectors, CEL. */
import { isDeepStrictEqual } from 'node:util';
import { loadSchema } from '../../src/api/schema/index.ts';
import { compileCel } from '../../src/apiserver/cel/compile.ts';
import { CelBudget } from '../../src/apiserver/cel/meter.ts';
import {
  createCodec,
  DecodeError,
  decodeProtobuf,
  encodeProtobuf,
  parseJson,
  parseYaml,
  TooLargeError,
  yamlText,
} from '../../src/apiserver/codec/index.ts';
import { ApiError } from '../../src/apiserver/exchange/status.ts';
import { FieldSelectorSyntaxError, parseFieldSelector } from '../../src/machinery/values/field-selector.ts';
import { formatSelector, parseSelector, SelectorSyntaxError } from '../../src/machinery/values/label-selector.ts';
import { Broken, expectJson, refusalOr, refused, shapeOf, type Subject } from './subject.ts';

const DECODING = [DecodeError, TooLargeError];
const schema = loadSchema();
const codec = createCodec();
const expected = { apiVersion: 'v1', kind: 'Pod' };

function expectSame(what: string, one: unknown, other: unknown): void {
  if (!isDeepStrictEqual(one, other)) throw new Broken(`${what}: ${show(one)} became ${show(other)}`);
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 300);

export const json: Subject = {
  name: 'json',
  weight: 10,
  words: ['{"', '":', '[]', '\\u0000', '\\ud800', '1e999', '-0', '"__proto__":', 'null', '9007199254740993'],
  attempt: (input) =>
    refusalOr(DECODING, input, () => {
      const text = input.toString('utf8');
      const { repeated, value } = parseJson(text);
      expectSame('beside JSON.parse', value, JSON.parse(text));
      expectJson(value);
      const written = JSON.stringify(value);
      expectSame('written and read again', JSON.stringify(parseJson(written).value), written);
      return `${shapeOf(value)}${repeated === undefined ? '' : ', keys said twice'}`;
    }),
};

export const yaml: Subject = {
  name: 'yaml',
  weight: 10,
  words: [
    '- ',
    ': ',
    '\n',
    '  ',
    '&a ',
    '*a',
    '!!binary ',
    '!!set',
    '---\n',
    '? ',
    '|\n',
    '>-\n',
    '<<: ',
    '\t',
    '#',
    '{',
    '}',
    '[',
    ']',
    '.inf',
    '0o7',
    '1_000',
    '~',
    '%YAML 1.1\n',
  ],
  attempt: (input) =>
    refusalOr(DECODING, input, () => {
      const { duplicates, value } = parseYaml(yamlText(input));
      const text = JSON.stringify(value);
      if (text === undefined) return 'read: nothing';
      expectSame('as JSON, read as YAML', parseYaml(text).value, JSON.parse(text));
      return `${shapeOf(value)}${duplicates.length === 0 ? '' : ', keys said twice'}`;
    }),
};

export const protobuf: Subject = {
  name: 'protobuf',
  isBinary: true,
  weight: 10,
  words: ['k8s\0', '\n', '\x12', '\x1a', '\xff\xff\xff\xff\x0f', '\x80', '\x08', '\x00'],
  attempt: (input) =>
    refusalOr(DECODING, input, () => {
      const object = decodeProtobuf(input, schema, expected);
      const bytes = encodeProtobuf(object, schema);
      if (bytes === undefined) throw new Broken('what was read as protobuf cannot be written');
      const again = decodeProtobuf(bytes, schema, expected);
      expectSame('written and read again', object, again);
      return `${shapeOf(object)} ${String(object['kind']).slice(0, 30)}`;
    }),
};

/** An object as a body: brought into the form of its kind, it has a form as protobuf that says the same. */
export const body: Subject = {
  name: 'body',
  weight: 10,
  words: [
    '"metadata":',
    '"spec":',
    '"kind":"Pod"',
    'null',
    '{}',
    '[]',
    '"1Gi"',
    '"2020-01-01T00:00:00Z"',
    '-1',
    '1.5',
    'true',
  ],
  attempt: (input) =>
    refusalOr([ApiError], input, () => {
      const request = { bytes: input, mediaType: 'application/json', expected };
      const { object, problems } = codec.decode(request);
      const bytes = encodeProtobuf(object, schema);
      const told = `${problems.length === 0 ? '' : ', with problems'} ${object.kind?.slice(0, 30)}`;
      if (bytes === undefined) return `${shapeOf(object)}, no protobuf${told}`;
      const once = decodeProtobuf(bytes, schema, expected);
      const written = encodeProtobuf(once, schema);
      expectSame('as protobuf, twice', written && decodeProtobuf(written, schema, expected), once);
      return `${shapeOf(object)}${told}`;
    }),
};

export const selectors: Subject = {
  name: 'selectors',
  weight: 5,
  words: [' in (', ' notin (', ')', ',', '=', '!=', '==', '!', '>', '<', 'a/b', '-'],
  attempt: (input) =>
    refusalOr([SelectorSyntaxError], input, () => {
      const text = formatSelector(parseSelector(input.toString('utf8')));
      expectSame('formatted and parsed again', formatSelector(parseSelector(text)), text);
      const operators = new Set(parseSelector(text).requirements.map(({ operator }) => operator));
      return `read: ${[...operators].sort().join(' ')}`;
    }),
};

export const fieldSelectors: Subject = {
  name: 'field-selectors',
  weight: 5,
  words: ['=', '!=', '==', ',', '\\', '\\,', '\\=', 'metadata.name', '!'],
  attempt: (input) =>
    refusalOr([FieldSelectorSyntaxError], input, () => {
      const requirements = parseFieldSelector(input.toString('utf8'));
      const escaped = (text: string): string => text.replaceAll(/[\\,=]/g, String.raw`\$&`);
      const text = requirements.map(({ field, operator, value }) => `${field}${operator}${escaped(value)}`).join(',');
      expectSame('formatted and parsed again', parseFieldSelector(text), requirements);
      return `read: ${[...new Set(requirements.map(({ operator }) => operator))].sort().join(' ')} ${Math.min(requirements.length, 4)}`;
    }),
};

const object = {
  metadata: { name: 'a', labels: { app: 'web', tier: 'x' } },
  spec: { replicas: 3, items: [1, 2, 3], ports: [{ name: 'http', port: 80 }], text: 'a'.repeat(50) },
};
/** What one evaluation may cost. */
const UNITS = 20_000;

export const cel: Subject = {
  name: 'cel',
  weight: 4,
  words: [
    'object.',
    'spec',
    '.all(x, ',
    '.map(x, ',
    '.exists(x, ',
    'has(',
    'size(',
    ' + ',
    ' in ',
    ' ? ',
    ' : ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    'x',
    '.matches("',
    'quantity("1Gi")',
    'duration("1h")',
    '?.orValue(',
    'cel.bind(',
    ' == ',
    '&&',
    '||',
    '!',
    '-',
    '9223372036854775807',
    '1.0',
    'null',
  ],
  attempt(input) {
    const compiled = compileCel(input.toString('utf8'), ['object']);
    if (!compiled.valid) return refused(compiled.message, input);
    const budget = new CelBudget();
    budget.left = UNITS;
    const outcome = evaluated(() => compiled.run({ object }, budget), input);
    if (budget.left > UNITS) throw new Broken('an evaluation gave units back');
    return outcome;
  },
};

/** Whatever an expression does wrong has words of its own. */
function evaluated(run: () => unknown, input: Buffer): string {
  try {
    return shapeOf(run());
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError || error instanceof ReferenceError) throw error;
    return `evaluates to: ${refused((error as Error).message, input)}`;
  }
}
