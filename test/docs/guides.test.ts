/** Runs the commands of every page under docs/ with the installed package, each page on a control plane of its own. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startHost } from '../clients/host.ts';
import { findKubectl } from '../clients/kubectl.ts';
import { type InstalledPackage, installPackage } from '../package/install.ts';
import { shellBlocks, toScript } from './shell-blocks.ts';

const root = join(import.meta.dirname, '..', '..');
const pages = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
  .map(({ name, parentPath }) => join(parentPath, name))
  .sort();

let installed: InstalledPackage;
let programs: string;

beforeAll(async () => {
  installed = await installPackage();
  programs = mkdtempSync(join(installed.home, 'programs-'));
  const program = (name: string, line: string): void => {
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(programs, name), 0o755);
  };
  const kubectl = findKubectl();
  if (kubectl !== 'kubectl') program('kubectl', `exec ${kubectl} --cache-dir ${join(programs, 'cache')} "$@"`);
  program('quorate', `exec ${installed.program} "$@"`);
}, 300_000);

function run(script: string, kubeconfig: string): Promise<{ code: number | null; output: string }> {
  const { NO_COLOR: _, ...env } = process.env;
  const child = spawn('bash', ['-c', script], {
    // Where the examples are.
    cwd: installed.folder,
    env: { ...env, KUBECONFIG: kubeconfig, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

for (const page of pages) {
  const name = relative(root, page);
  const blocks = shellBlocks(readFileSync(page, 'utf8'));
  const runnable = blocks.filter(({ notRun }) => notRun === undefined);
  if (runnable.length === 0) continue;
  test(`the commands of ${name} work, in order`, { timeout: 180_000 }, async () => {
    const host = await startHost({ nodes: 3 });
    try {
      for (const { line, text } of runnable) {
        const { code, output } = await run(toScript(text), host.kubeconfig);
        expect(code, `${name}:${line}\n${text}\n${output}`).toBe(0);
      }
    } finally {
      await host.stop();
    }
  });
}

test('every link between pages leads somewhere', () => {
  const broken = [...pages, join(root, 'README.md'), join(root, 'CONTRIBUTING.md')].flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map(([, target = '']) => join(page, '..', target))
      .filter((target) => !isThere(target))
      .map((target) => `${relative(root, page)} -> ${relative(root, target)}`),
  );
  expect(broken).toEqual([]);
});

test('every page is reached from the index', () => {
  const index = readFileSync(join(root, 'docs', 'README.md'), 'utf8');
  const linked = new Set([...index.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => join(root, 'docs', target)));
  const records = join(root, 'docs', 'adr');
  const lost = pages.filter(
    (page) => !linked.has(page) && !page.startsWith(records) && !page.endsWith('docs/README.md'),
  );
  expect(lost.map((page) => relative(root, page))).toEqual([]);
});

test('toScript() holds a command to the end that the page announces', async () => {
  const ends = async (text: string) => (await run(toScript(text), '')).code;
  expect(await ends('true')).toBe(0);
  expect(await ends('false\ntrue')).not.toBe(0);
  expect(await ends('false # fails')).toBe(0);
  expect(await ends('true # fails')).toBe(97);
  expect(await ends('sh -c "exit 3" # exits 3: refused')).toBe(0);
  expect(await ends('sh -c "exit 2" # exits 3')).toBe(97);
});

test('shellBlocks() takes no fence for run that is not', () => {
  expect(shellBlocks('```sh not-run: a reason\nx\n```\n')).toEqual([{ line: 1, text: 'x', notRun: 'a reason' }]);
  expect(() => shellBlocks('```bash\nx\n```\n')).toThrow(/fence shell commands as sh/);
  expect(() => shellBlocks('```sh later\nx\n```\n')).toThrow(/what is/);
});

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EISDIR';
  }
}
