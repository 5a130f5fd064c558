import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DocumentError, readFormat } from './read-document.ts';

const folder = mkdtempSync(join(tmpdir(), 'quorate-documents-'));
const file = join(folder, 'file');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string): unknown {
  writeFileSync(file, text);
  return readFormat(file, { format: 'f', version: 1, what: 'one of these' });
}

test('readFormat() reads JSON and YAML, aliases in it as what they name', () => {
  expect(read('{"format":"f","version":1}')).toEqual({ format: 'f', version: 1 });
  expect(read('format: f\nversion: 1\na: &a [1]\nb: *a\n')).toEqual({ format: 'f', version: 1, a: [1], b: [1] });
});

const bomb = Array.from({ length: 9 }, (_, at) => {
  const items = Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*a${at - 1}`));
  return `a${at}: &a${at} [${items.join()}]`;
});

test.each([
  ['an alias that names nothing', '*a'],
  ['an alias that names what it is a part of', 'format: f\nversion: 1\na: &a [*a]\n'],
  ['aliases that make gigabytes', bomb.join('\n')],
  ['no YAML', 'a: [\n'],
  ['no map', '[]'],
  ['another format', 'format: g\nversion: 1\n'],
])('readFormat() refuses %s in one line that names the file', (_, text) => {
  expect(() => read(text)).toThrow(DocumentError);
  expect(() => read(text)).toThrow(new RegExp(`^[^\\n]*${file}[^\\n]*$`));
});
