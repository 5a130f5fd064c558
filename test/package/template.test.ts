/** The template for people who test an operator, under the test runners they use; under jest: `npm run test:jest`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { finish, type InstalledPackage, installPackage } from './install.ts';
import { copyTemplate } from './template.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 300_000);

function runIn(folder: string, ...args: string[]): ChildProcess {
  const { NODE_TEST_CONTEXT: _, VITEST: _vitest, ...env } = process.env;
  return spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

test.concurrent("the template's tests pass under node:test", async () => {
  const folder = join(installed.home, 'template-node');
  copyTemplate(installed.folder, folder, { runner: 'node:test', packages: ['@kubernetes/client-node'] });
  const { code, output } = await finish(runIn(folder, '--test'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/pass 2\b/);
});

test.concurrent("the template's tests pass under vitest", async () => {
  const folder = join(installed.home, 'template-vitest');
  copyTemplate(installed.folder, folder, { runner: 'vitest', packages: ['@kubernetes/client-node', 'vitest'] });
  const { code, errors, output } = await finish(
    runIn(
      folder,
      join(folder, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=json',
      '--testTimeout=120000',
    ),
  );
  expect(code, output + errors).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ numPassedTests: 2, numTotalTests: 2 });
});
