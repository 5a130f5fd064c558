/** Runs the commands of the README as a reader would, one after the other, with the package as npm installs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKubectl, type Kubectl } from '../clients/kubectl.ts';
import { type InstalledPackage, installPackage } from '../package/install.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```sh\n([^]*?)```/g)].map(([, text = '']) => text.trim());
/** These start and test the whole project; whoever runs this test has just run one of them. */
const OUTER = ['npm ci && npm start', 'npm test'];
const commands = blocks.filter((block) => !OUTER.includes(block)).flatMap((block) => block.split('\n'));

let installed: InstalledPackage;
let up: ChildProcess;
let kubectl: Kubectl;
let kubeconfig: string;

/** The control plane of the package itself, as `npm start` runs it. */
beforeAll(async () => {
  installed = await installPackage();
  kubeconfig = join(installed.home, 'readme.kubeconfig');
  const flags = ['--ephemeral', '--port', '0', '--kubeconfig', kubeconfig];
  up = spawn(installed.program, ['up', ...flags], { cwd: installed.home, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    up.stdout?.on('data', (chunk: Buffer) => chunk.includes('export KUBECONFIG=') && resolve());
    up.once('exit', (code) => reject(new Error(`quorate up ended with ${code}`)));
  });
  kubectl = createKubectl(kubeconfig);
}, 300_000);
afterAll(async () => {
  kubectl?.close();
  if (up?.exitCode !== null) return;
  const ended = new Promise((resolve) => up.once('exit', resolve));
  up.kill('SIGTERM');
  await ended;
});

async function runLine(line: string): Promise<void> {
  const [command = '', note = ''] = line.split(' # ');
  const [program, ...args] = command.split(' ');
  if (program === 'kubectl') {
    const inPackage = args.map((arg) => (arg.startsWith('examples/') ? join(installed.folder, arg) : arg));
    await kubectl.run(inPackage, { fails: note === 'fails' });
    return;
  }
  expect(`${program} ${args[0]}`).toBe('npx quorate');
  const child = spawn(installed.program, args.slice(1), {
    // Where the examples are.
    cwd: installed.folder,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  // 3 says that an eviction would be refused now, which is an answer and not a failure.
  expect([0, 3], line).toContain(code);
}

test('the README names the two commands that do everything', () => {
  expect(blocks.filter((block) => OUTER.includes(block))).toEqual(OUTER);
});

test('every other command of the README works, in order', { timeout: 180_000 }, async () => {
  expect(commands.length).toBeGreaterThan(8);
  for (const line of commands) await runLine(line);
});
