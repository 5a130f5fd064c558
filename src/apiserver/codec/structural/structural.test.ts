import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone, FieldPath, formatIssue, type JsonObject } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';
import {
  checkStructural,
  defaultCustom,
  nodeOfCustom,
  pruneCustom,
  type StructuralSchema,
  validateCustom,
  validateListTypes,
} from './index.ts';

const root = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } });
const object = (properties: Record<string, StructuralSchema>, rest: StructuralSchema = {}): StructuralSchema => ({
  type: 'object',
  properties,
  ...rest,
});
const custom = (spec: unknown, metadata: JsonObject = { name: 'x' }): JsonObject => ({
  apiVersion: 'x.io/v1',
  kind: 'X',
  metadata,
  spec,
});

test('pruneCustom() drops what is not specified and names it', () => {
  const schema = root(
    object({ a: { type: 'string' }, list: { type: 'array', items: object({ n: { type: 'string' } }) } }),
  );
  const value = custom({ a: 'x', b: 1, list: [{ n: '1', m: 2 }] }, { name: 'x', bogus: 1 });
  expect(pruneCustom(value, schema)).toEqual(['metadata.bogus', 'spec.b', 'spec.list[0].m']);
  expect(value).toEqual(custom({ a: 'x', list: [{ n: '1' }] }));
});

test('pruneCustom() keeps unknown fields where asked, yet prunes below specified ones', () => {
  const schema = root(
    object({ known: object({ a: { type: 'string' } }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
  );
  const value = custom({ extra: { deep: [1] }, known: { a: 'x', b: 1 } });
  expect(pruneCustom(value, schema)).toEqual(['spec.known.b']);
  expect(value.spec).toEqual({ extra: { deep: [1] }, known: { a: 'x' } });
  const anything = custom({ whatever: [{ a: 1 }] });
  expect(pruneCustom(anything, undefined)).toEqual([]);
});

test('pruneCustom() keeps type and metadata of embedded objects, and checks the metadata', () => {
  const schema = root(object({ pod: object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true }) }));
  const value = custom({
    pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', foo: 1 }, spec: {}, status: {} },
  });
  expect(pruneCustom(value, schema)).toEqual(['spec.pod.metadata.foo', 'spec.pod.status']);
  expect(() => pruneCustom(custom({}, { labels: 5 }), schema)).toThrow(DecodeError);
});

test('defaultCustom() fills absent fields, replaces nulls that may not be, and descends', () => {
  const schema = root(
    object({
      a: { type: 'string', default: 'A' },
      n: { type: 'string', nullable: true, default: 'N' },
      o: object({ b: { type: 'integer', default: 2 } }, { default: {} }),
      list: { type: 'array', items: object({ c: { type: 'boolean', default: true } }) },
      map: { type: 'object', additionalProperties: object({ d: { type: 'string', default: 'D' } }) },
    }),
  );
  const value = custom({ a: null, n: null, list: [{}], map: { k: {} } });
  defaultCustom(value, schema);
  expect(value.spec).toEqual({ a: 'A', n: null, o: { b: 2 }, list: [{ c: true }], map: { k: { d: 'D' } } });
});

const bars = root(
  object(
    {
      bars: {
        type: 'array',
        minItems: 1,
        maxItems: 2,
        items: object({ name: { type: 'string' } }, { required: ['name'] }),
      },
      mode: { type: 'string', enum: ['A', 'B'] },
      count: { type: 'integer', minimum: 1, maximum: 5, multipleOf: 2 },
      host: { type: 'string', pattern: '^[a-z]+$', maxLength: 3, minLength: 2 },
      when: { type: 'string', format: 'date-time' },
      port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      one: object(
        { x: { type: 'string' }, y: { type: 'string' } },
        { oneOf: [{ required: ['x'] }, { required: ['y'] }] },
      ),
      not: { type: 'string', not: { enum: ['bad'] } },
    },
    { required: ['mode'] },
  ),
);

test.each<[JsonObject, string[]]>([
  [{ mode: 'A', bars: [{ name: 'x' }], count: 2, host: 'ab', when: '2026-01-01T00:00:00Z', port: 'http' }, []],
  [{}, ['spec.mode: Required value']],
  [{ mode: 'X' }, ['spec.mode: Unsupported value: "X": supported values: "A", "B"']],
  [{ mode: 'A', bars: [{}] }, ['spec.bars[0].name: Required value']],
  [{ mode: 'A', bars: [] }, ['spec.bars: Invalid value: 0: spec.bars in body should have at least 1 items']],
  [
    { mode: 'A', bars: [{ name: '1' }, { name: '2' }, { name: '3' }] },
    ['spec.bars: Too many: 3: must have at most 2 items'],
  ],
  [
    { mode: 'A', count: 'x' },
    ['spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"'],
  ],
  [{ mode: 'A', count: 0 }, ['spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1']],
  [{ mode: 'A', count: 3 }, ['spec.count: Invalid value: 3: spec.count in body should be a multiple of 2']],
  [{ mode: 'A', host: 'A1' }, ['spec.host: Invalid value: "A1": spec.host in body should match \'^[a-z]+$\'']],
  [{ mode: 'A', host: 'abcd' }, ['spec.host: Too long: may not be more than 3 bytes']],
  [{ mode: 'A', host: 'a' }, ['spec.host: Invalid value: "a": spec.host in body should be at least 2 chars long']],
  [
    { mode: 'A', when: 'soon' },
    ['spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"'],
  ],
  [
    { mode: 'A', port: true },
    ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
  ],
  [
    { mode: 'A', one: {} },
    [
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
      'spec.one.x: Required value',
    ],
  ],
  [{ mode: 'A', not: 'bad' }, ['<nil>: Invalid value: "": "spec.not" must not validate the schema (not)']],
])('validateCustom() of %j', (spec, want) => {
  expect(validateCustom(custom(spec), bars).map(formatIssue)).toEqual(want);
});

test('validateListTypes() refuses repeated items of sets and keys of map lists', () => {
  const schema = root(
    object({
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: object({ name: { type: 'string' }, v: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    }),
  );
  const value = custom({
    set: ['a', 'b', 'a'],
    map: [
      { name: 'x', v: '1' },
      { name: 'x', v: '2' },
    ],
  });
  expect(validateListTypes(value, schema).map(formatIssue)).toEqual([
    'spec.set[2]: Duplicate value: "a"',
    'spec.map[1]: Duplicate value: {"name":"x"}',
  ]);
});

test.each<[string, StructuralSchema, string[]]>([
  ['a good schema', bars, []],
  [
    'an untyped field',
    root(object({ a: {} })),
    ['s.properties[spec].properties[a].type: Required value: must not be empty for specified object fields'],
  ],
  ['an untyped root', { properties: {} }, ['s.type: Required value: must not be empty at the root']],
  ['a list without items', root({ type: 'array' }), ['s.properties[spec].items: Required value: must be specified']],
  [
    'metadata that says too much',
    { type: 'object', properties: { metadata: object({ labels: { type: 'object' } }) } },
    [
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    'a type inside anyOf',
    root({ type: 'string', anyOf: [{ type: 'string' }] }),
    ['s.properties[spec].anyOf[0].type: Forbidden: must be empty to be structural'],
  ],
  ['a reference', root({ type: 'object', $ref: '#/x' }), ['s.properties[spec].$ref: Forbidden: $ref is not supported']],
  [
    'a pattern that is none',
    root({ type: 'string', pattern: '(' }),
    ['s.properties[spec].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t'],
  ],
  [
    'map keys missing',
    root({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
    [
      's.properties[spec].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
  ],
])('checkStructural() of %s', (_, schema, want) => {
  expect(checkStructural(schema, FieldPath.of('s')).map(formatIssue)).toEqual(want);
});

test('nodeOfCustom() gives apply what the schema says about lists', () => {
  const node = nodeOfCustom(
    root(
      object({
        l: {
          type: 'array',
          items: object({ n: { type: 'string' } }),
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['n'],
        },
      }),
    ),
  );
  const spec = node.property('spec');
  if (spec?.kind !== 'object') throw new Error('spec must be an object');
  expect(spec.property('l')).toMatchObject({ kind: 'list', listType: 'map', keys: ['n'] });
  expect(spec.property('nope')).toBeUndefined();
});

test('pruning twice is the same as once; what is pruned and defaulted stays so', () => {
  const key = fc.constantFrom('a', 'list', 'n', 'o', 'map', 'x', '__proto__');
  const schema = root(
    object({
      a: { type: 'string', default: 'A' },
      list: { type: 'array', items: object({ n: { type: 'string', default: 'n' } }) },
      o: object({ a: { type: 'integer', default: 1 } }, { default: {} }),
      map: { type: 'object', additionalProperties: { type: 'string' } },
    }),
  );
  fc.assert(
    fc.property(
      fc.object({ key, maxDepth: 4, withBigInt: false, withDate: false, withNullPrototype: false }),
      (spec) => {
        const value = custom(JSON.parse(JSON.stringify(spec) ?? '{}'));
        pruneCustom(value, schema);
        defaultCustom(value, schema);
        const once = deepClone(value);
        expect(pruneCustom(value, schema)).toEqual([]);
        defaultCustom(value, schema);
        expect(value).toEqual(once);
        validateCustom(value, schema);
      },
    ),
  );
});

test('17.11: validateCustom() refuses to match large texts with large patterns, all of an object together', () => {
  const pattern = '(a|b|c|d|e|f|g|h){1,500}$';
  const found = (spec: unknown, schema: StructuralSchema): string[] =>
    validateCustom(custom(spec), root(schema)).map(formatIssue);
  const tooLong =
    'Too long: to match the texts of this object with their patterns takes more than 10000000 steps (characters times steps of the pattern)';
  expect(found('abcdefgh'.repeat(20), { type: 'string', pattern })).toEqual([]);
  expect(found('abcdefgh'.repeat(12_500), { type: 'string', pattern })).toEqual([`spec: ${tooLong}`]);
  // What could not be matched does not count as not matching.
  expect(found('abcdefgh'.repeat(12_500), { type: 'string', not: { pattern } })).toEqual([`spec: ${tooLong}`]);
  const many = Array.from({ length: 5 }, () => 'abcdefgh'.repeat(150));
  expect(found(many, { type: 'array', items: { type: 'string', pattern } })).toEqual([`spec[4]: ${tooLong}`]);
  // A megabyte of base64 is nothing unusual.
  expect(found('aB9+'.repeat(250_000), { type: 'string', pattern: '^[A-Za-z0-9+/=]*$' })).toEqual([]);
});
