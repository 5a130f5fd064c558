import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError } from '../decode-error.ts';
import { parseYaml } from './parse.ts';

test('parseYaml() reads scalars as kubectl does', () => {
  const { value } = parseYaml(
    'mode: 0644\non: yes\ndate: 2020-01-01\nrange: 1:30\nbig: 12345678901234567890\nt: !!str 5',
  );
  expect(value).toMatchObject({ mode: 420, true: true, date: '2020-01-01', range: '1:30', t: '5' });
});

test('parseYaml() names repeated keys by line', () => {
  const { value, duplicates } = parseYaml('a: 1\nb:\n  foo: 1\n  foo: 2\na: 3\n');
  expect(duplicates).toEqual(['line 5: key "a" already set in map', 'line 4: key "foo" already set in map']);
  expect(value).toEqual({ a: 3, b: { foo: 2 } });
});

test('parseYaml() reads documents as deep as the limit allows', () => {
  const depth = 299;
  expect(() => parseYaml('['.repeat(depth) + ']'.repeat(depth))).not.toThrow();
  expect(() => parseYaml(Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:`).join('\n'))).not.toThrow();
  expect(() => parseYaml(`${'- '.repeat(depth - 1)}x`)).not.toThrow();
});

test('parseYaml() reads the first of several documents', () => {
  expect(parseYaml('a: 1\n---\nb: 2\n').value).toEqual({ a: 1 });
});

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[i]}`).join(',')}]`).join('\n')}`;

test.each([
  ['a bad indent', 'a:\n - b\n  c: d\n : :'],
  ['a tab on a line of its own', 'kind: DeleteOptions\n\t\n'],
  ['a tab below quotes, even after a space', 'a: "b"\n \t\nc: d\n'],
  ['a tab before a comment', 'a: b\n\t# c\nd: e\n'],
  ['a tab in the first line', '\t\na: b\n'],
  ['a tab no further in than its map', 'a:\n  b: c\n  \t\n  d: e\n'],
  ['a tab after the dash of an item', '- \tfoo\n'],
  ['an alias bomb', bomb],
  ['brackets without end', '['.repeat(50_000)],
  ['brackets in brackets', '['.repeat(5000) + ']'.repeat(5000)],
  ['lists in lists on one line', '- '.repeat(20_000)],
  ['keys in keys', '? '.repeat(20_000)],
  ['ever deeper indentation', Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  [
    'lists in lists over many lines',
    Array.from({ length: 50 }, (_, i) => `${'  '.repeat(i * 20)}${'- '.repeat(20)}`).join('\n'),
  ],
  ['an unknown alias', 'a: *nope'],
])('parseYaml() refuses %s', (_, text) => {
  expect(() => parseYaml(text)).toThrow(DecodeError);
});

test('parseYaml() reads JSON as JSON.parse does', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 3, noUnicodeString: true })),
      (value) => {
        const text = JSON.stringify(value);
        expect(parseYaml(text).value).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 100 },
  );
});

test('parseYaml() fails only with DecodeError on any text', () => {
  const pieces = fc.constantFrom(
    'a',
    ': ',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&x ',
    '*x',
    '!!int ',
    '"',
    "'",
    '|',
    '>',
    '#',
    '?',
    '%',
    '\t',
    '1',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
      ),
      (text) => {
        try {
          parseYaml(text);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test.each(['\uffff', '\ufffe', '\u0080', '\u0001'])('17.12: %j is no character of YAML, in JSON neither', (odd) => {
  for (const text of [`a: "x${odd}"`, `{"a":"x${odd}"}`]) expect(() => parseYaml(text)).toThrow(DecodeError);
});

test.each(['{a:{}}', '{a:[]}', '{b: 1, a:{c: 1}}'])(
  '17.12: in %j the colon is part of the key, which has no value',
  (text) => {
    expect(() => parseYaml(text)).toThrow(DecodeError);
  },
);

test.each([
  ['after a colon', 'a:\tb\n'],
  ['after a value', 'a: b \t# x\nc: d\t\n'],
  ['on a line below plain text, further in than its map', 'a:\n  b: c\n   \t\n  d: e\n'],
  ['below an item, further in than its list', '- foo\n \t\n- bar\n'],
  ['in quotes and in a block', 'a: "x\n  \ty"\nb: |\n  x\n  \ty\nc: d\n'],
])('17.12: parseYaml() takes tabs %s', (_, text) => {
  expect(() => parseYaml(text)).not.toThrow();
});

test.each(['{a: {}}', '{"a":{}}', 'a: {b: []}', '{a:b: {}}'])('17.12: %j is a map', (text) => {
  expect(() => parseYaml(text)).not.toThrow();
});
