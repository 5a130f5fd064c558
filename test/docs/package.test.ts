import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUORATE_VERSION } from '../../src/api/version.ts';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  exports: Record<string, string>;
  bin: Record<string, string>;
};
const sourceOf = (built: string): string => built.replace(/^(\.\/)?dist\//, 'src/').replace(/\.js$/, '.ts');

for (const [name, built] of [...Object.entries(manifest.exports), ...Object.entries(manifest.bin)]) {
  test(`what the package offers as "${name}" has a source`, () => {
    expect(existsSync(join(root, sourceOf(built)))).toBe(true);
  });
}

test('the program knows its version', () => {
  expect(QUORATE_VERSION).toBe(manifest.version);
});
