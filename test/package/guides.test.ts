/** The programs of the guides, run where the package is installed. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findKubectl } from '../clients/kubectl.ts';
import { finish, type InstalledPackage, installPackage } from './install.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 300_000);

test('the examples of the guide to the testkit pass', { timeout: 120_000 }, async () => {
  const guide = readFileSync(join(installed.folder, 'docs', 'guide', 'testkit.md'), 'utf8');
  const examples = [...guide.matchAll(/^```js\n([^]*?)^```/gm)].map(([, text = '']) => text);
  expect(examples).toHaveLength(4);
  const files = examples.map((text, index) => {
    const file = join(installed.home, `example-${index}.test.mjs`);
    writeFileSync(file, text);
    return file;
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', ...files], {
    cwd: installed.home,
    env: { ...env, PATH: `${dirname(findKubectl())}${delimiter}${env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, output } = await finish(child);
  expect(code, output).toBe(0);
  expect(output).toMatch(/pass 4\b/);
});
