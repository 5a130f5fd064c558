import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANNOTATIONS } from '../../scripts/reference/annotations.ts';
import { referencePages } from '../../scripts/reference/pages.ts';

const root = join(import.meta.dirname, '..', '..');

for (const [name, text] of referencePages()) {
  test(`docs/reference/${name} says what the sources say (npm run docs:reference writes it)`, () => {
    expect(readFileSync(join(root, 'docs', 'reference', name), 'utf8')).toBe(text);
  });
}

test('every annotation and label of our own is in the reference', () => {
  const listed = new Set(
    ANNOTATIONS.flatMap(({ key }) => {
      const [first = '', ...more] = key.split(', ');
      const domain = first.slice(0, first.indexOf('/'));
      return [first, ...more.map((rest) => domain + rest)];
    }),
  );
  const used = new Set<string>();
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8').replaceAll(
      /\$\{PREFIX\}\//g,
      entry.parentPath.endsWith('nodes') ? 'nodes.quorate.dev/' : '',
    );
    const found = text.matchAll(/['"`]((?:policy|groups|nodes|lint|scheduling)\.quorate\.dev\/[a-zA-Z-]+)['"`]/g);
    for (const [, key = ''] of found) if (!/\/v\d/.test(key)) used.add(key);
  }
  expect(used.size).toBeGreaterThan(12);
  expect([...used].filter((key) => !listed.has(key))).toEqual([]);
});
