import { expect, test } from 'vitest';
import { LIMITS } from '../../exchange/limits.ts';
import { checkYamlSize } from './count.ts';

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');

test.each([
  ['a list of nothing', '-\n'.repeat(5 * LIMITS.bodyValues)],
  ['comments', '#\n'.repeat(6 * LIMITS.bodyValues)],
  ['aliases', `a: &a x\nb: [${'*a,'.repeat(3 * LIMITS.bodyValues)}x]`],
])('17.11: checkYamlSize() refuses too many values, before they are parsed: %s', (_, text) => {
  expect(() => checkYamlSize(text)).toThrow(/^Request entity too large: limit is 100000 values/);
});

test.each([
  ['commas', `[${','.repeat(LIMITS.bodyValues)}`],
  ['brackets that close nothing', '}'.repeat(2 * LIMITS.bodyValues)],
  ['anchors', '&a '.repeat(LIMITS.bodyValues)],
  ['tags', '!a '.repeat(LIMITS.bodyValues)],
  ['directives', '%a\n'.repeat(LIMITS.bodyValues)],
])('17.11: checkYamlSize() refuses a text of nothing but %s', (_, text) => {
  expect(() => checkYamlSize(text)).toThrow(/^yaml: more commas, brackets/);
});

test.each([
  ['a map in flow style', `{${lines(LIMITS.bodyValues - 1, (at) => `"k${at}": "v", `)}}`],
  ['a list of empty maps', `[${'{}, '.repeat(LIMITS.bodyValues / 2)}]`],
  ['a file in a config map', `data:\n  a.csv: |\n${'    1,2,3: [{&,!\n'.repeat(150_000)}`],
  ['one long text', `a: "${'\\n, '.repeat(600_000)}"`],
])('17.11: checkYamlSize() lets pass what a body may have: %s', (_, text) => {
  expect(() => checkYamlSize(text)).not.toThrow();
});
