import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError } from '../decode-error.ts';
import { parseJson } from './parse.ts';

test.each([
  ['{"a":1,"a":2}', ['a']],
  ['{"a":{"b":1,"c":[{"d":1,"d":2}],"b":3}}', ['a.c[0].d', 'a.b']],
  ['{"a":[{"x":1},{"x":1,"x":2,"x":3}]}', ['a[1].x']],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['{"q\\"":1,"q\\"":2}', ['q"']],
  ['{"a":{"x":1},"b":{"x":1}}', []],
  ['{"a":"\\"b\\": 1, \\"b\\": 2"}', []],
  ['[{"a":1,"a":1}]', ['[0].a']],
])('parseJson() finds repeated keys: %s', (text, want) => {
  expect(parseJson(text).repeated?.duplicates ?? []).toEqual(want);
});

test('parseJson() keeps the last of repeated values', () => {
  expect(parseJson('{"a":1,"a":2}').value).toEqual({ a: 2 });
});

test.each(['', '{', '{"a"}', 'nope', '{"a":1}}', '\u0000'])('parseJson() refuses %j', (text) => {
  expect(() => parseJson(text)).toThrow(DecodeError);
});

test('parseJson() refuses absurd nesting and accepts brackets in strings', () => {
  expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow('max depth');
  expect(parseJson(JSON.stringify({ a: '['.repeat(5000) })).repeated).toBeUndefined();
});

test('parseJson() agrees with JSON.parse and finds no repetition in what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const parsed = parseJson(text);
      expect(parsed.value).toEqual(JSON.parse(text));
      expect(parsed.repeated).toBeUndefined();
    }),
  );
});

test('parseJson() fails only with DecodeError on any text', () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ')).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (input) => {
      try {
        parseJson(input);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('17.11: parseJson() refuses text with more values than a body may have, before it parses it', () => {
  const error = (text: string): unknown => {
    try {
      parseJson(text);
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  };
  expect(error(`[${'{},'.repeat(LIMITS.bodyValues)}{}]`)).toMatchObject({ name: 'TooLargeError' });
  // Not even JSON: nothing was parsed.
  expect(error(`[${'0,'.repeat(LIMITS.bodyValues)}`)).toMatchObject({ name: 'TooLargeError' });
  // Too deep comes first, as on the real server.
  expect(error('[0,'.repeat(LIMITS.bodyValues))).toMatchObject({ name: 'DecodeError' });
  expect(error(JSON.stringify({ csv: '1,2,3{[\\",'.repeat(LIMITS.bodyValues) }))).toBeUndefined();
});

test('17.11: parseJson() tells of a hundred repeated keys, and spends little on very long ones', () => {
  const many = Array.from({ length: 500 }, (_, at) => `"k${at}":1,"k${at}":2`).join(',');
  expect(parseJson(`{${many}}`).repeated?.duplicates).toHaveLength(LIMITS.fieldProblems);
  const long = parseJson(`{"${'x'.repeat(100_000)}":{${many}}}`).repeated;
  expect(long?.duplicates).toHaveLength(1);
  expect([...(long?.order.keys() ?? [])].join('').length).toBeLessThan(2 * 1024 * 1024);
});

test.each(['1e999', '{"a":1e999}', '{"a":{"b":[1,-1e400]}}', `[${'9'.repeat(400)}]`])(
  'parseJson() refuses numbers that are stored as nothing: %s',
  (text) => {
    expect(() => parseJson(text)).toThrow(DecodeError);
  },
);

test('parseJson() reads the largest and the smallest numbers', () => {
  expect(parseJson('[1.7976931348623157e308,5e-324,1e-999]').value).toEqual([Number.MAX_VALUE, 5e-324, 0]);
});
