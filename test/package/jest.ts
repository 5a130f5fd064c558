/**
 * `npm run test:jest`: the template's tests under jest. Jest brings some 280 packages, so it is no dependency of ours: it is
 * installed into a folder of its own, from the registry.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTemplate, jestSettings } from './template.ts';

const JEST = 'jest@30';
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'quorate-jest-'));

function run(cwd: string, program: string, ...args: string[]): Promise<number> {
  const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' };
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  process.exitCode = await run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--silent', JEST);
  if (process.exitCode === 0) {
    symlinkSync(root, join(folder, 'node_modules', 'quorate'));
    const template = join(folder, 'template');
    copyTemplate(root, template, { runner: 'jest', packages: ['@kubernetes/client-node'] });
    writeFileSync(join(template, 'jest.config.json'), jestSettings(root));
    process.exitCode = await run(template, join(folder, 'node_modules', '.bin', 'jest'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
