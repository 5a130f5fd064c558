import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

test('19.1: every path that the map names is there', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const named = [...text.matchAll(/`((?:src|test|scripts)\/[^`\s]+)`/g)].map(([, path = '']) => path);
  const paths = [...new Set(named)].filter((path) => !path.includes('NAME'));
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
