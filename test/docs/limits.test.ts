import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/apiserver/exchange/limits.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'concepts', 'limits.md'), 'utf8');

test('the page on limits lists every bound with its value, and no other', () => {
  const rows = [...page.matchAll(/^\| `(\w+)`: [^|]+\| (\d+) \|/gm)].map(([, name, value]) => [name, Number(value)]);
  expect(Object.fromEntries(rows)).toEqual({ ...LIMITS });
});
