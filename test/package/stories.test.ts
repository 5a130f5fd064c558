/** Every story, told by the package as it is installed. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { stories } from '../../src/tasks/index.ts';
import { finish, type InstalledPackage, installPackage } from './install.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 300_000);

const start = (...args: string[]) =>
  spawn(installed.program, args, { cwd: installed.home, stdio: ['ignore', 'pipe', 'pipe'] });
const quorate = (...args: string[]) => finish(start(...args));

describe.concurrent('stories', () => {
  for (const { name, title } of stories) {
    test(`quorate demo ${name} goes as told`, { timeout: 180_000 }, async ({ expect }) => {
      const { code, errors, output } = await quorate('demo', name, '--fast');
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      const lines = output.split('\n');
      expect(lines[0]).toBe(`${title}.`);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(output).not.toContain('\u001b');
      expect(lines.filter((line) => line.startsWith('  ✔ ')).length).toBeGreaterThan(2);
      expect(output).toContain('\nNext:\n');
    });
  }

  test('a story as JSON is a transcript that says whether it went as told', { timeout: 180_000 }, async ({
    expect,
  }) => {
    const { code, output } = await quorate('demo', 'gang-drain', '-o', 'json');
    const transcript = JSON.parse(output) as { story: string; ok: boolean; beats: { kind: string; holds?: boolean }[] };
    expect([code, transcript.story, transcript.ok]).toEqual([0, 'gang-drain', true]);
    const claims = transcript.beats.filter(({ kind }) => kind === 'claim');
    expect(claims.length).toBeGreaterThan(4);
    expect(claims.filter(({ holds }) => holds !== true)).toEqual([]);
  });

  test('an interrupted story ends at once and leaves nothing behind', { timeout: 180_000 }, async ({ expect }) => {
    const child = start('demo', 'upgrade');
    let kubeconfig: string | undefined;
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /KUBECONFIG=(\S+)/.exec(chunk.toString('utf8'))?.[1];
      if (found === undefined) return;
      kubeconfig = found;
      child.kill('SIGINT');
    });
    const { code, errors } = await finish(child);
    expect({ code, errors }).toEqual({ code: 130, errors: '' });
    expect(kubeconfig).toBeDefined();
    expect(existsSync(dirname(kubeconfig ?? '/'))).toBe(false);
  });
});

test('without a name the first story is told, --list names all, and an unknown one is refused in one line', async () => {
  const [first, list, unknown] = await Promise.all([
    quorate('demo'),
    quorate('demo', '--list'),
    quorate('demo', 'nowhere'),
  ]);
  expect(first.code).toBe(0);
  expect(first.output).toContain(stories[0]?.title);
  expect(list.code).toBe(0);
  for (const { name } of stories) expect(list.output).toContain(`\n  ${name} `);
  expect(unknown.code).toBe(1);
  expect(unknown.errors).toMatch(/^quorate demo: there is no story "nowhere"; there are gang-drain, .*\n$/);
}, 180_000);

test('everything the package offers can be imported', async () => {
  const manifest = JSON.parse(readFileSync(join(installed.folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  const names = Object.keys(manifest.exports).map((path) => path.replace('.', 'quorate'));
  const script = `const all = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
    console.log(all.every((module) => Object.keys(module).length > 0));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: installed.home });
  expect(await finish(child)).toEqual({ code: 0, output: 'true\n', errors: '' });
}, 180_000);
