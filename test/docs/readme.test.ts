/** Runs the commands of the README as a reader would, one after the other, with the package as npm installs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKubectl, type Kubectl } from '../clients/kubectl.ts';
import { type InstalledPackage, installPackage } from '../package/install.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

interface Block {
  readonly commands: string;
  /** What the page shows under the commands; `…` stands for anything. */
  readonly shown: readonly string[];
}

const blocks: Block[] = [...readme.matchAll(/```sh\n([^]*?)```(?:\n+```text\n([^]*?)```)?/g)].map(
  ([, commands = '', shown = '']) => ({
    commands: commands.trim(),
    shown: shown.split('\n').filter((line) => line.trim() !== ''),
  }),
);
/** These start and test the whole project; whoever runs this test has just run one of them. */
const OUTER = ['npm ci && npm start', 'npm test'];
const session = blocks.filter(({ commands }) => !OUTER.includes(commands));

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

/** What the command prints. */
async function runLine(line: string): Promise<string> {
  const [command = '', note = ''] = line.split(' # ');
  const [program, ...args] = command.split(' ');
  if (program === 'kubectl') {
    const inPackage = args.map((arg) => (arg.startsWith('examples/') ? join(installed.folder, arg) : arg));
    const { stdout, stderr } = await kubectl.run(inPackage, { fails: note === 'fails' });
    return `${stdout}\n${stderr}`;
  }
  expect(`${program} ${args[0]}`).toBe('npx quorate');
  const child = spawn(installed.program, args.slice(1), {
    // Where the examples are.
    cwd: installed.folder,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  // 3 says that an eviction would be refused now, which is an answer and not a failure.
  expect([0, 3], line).toContain(code);
  return output;
}

/** Blanks count for nothing: columns are as wide as what stands in them. */
function patternOf(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'));
  return new RegExp(parts.join('.*'));
}

test('the README names the two commands that do everything', () => {
  expect(blocks.map(({ commands }) => commands).filter((commands) => OUTER.includes(commands))).toEqual(OUTER);
});

test('every other command of the README works, in order, and prints what the page shows', {
  timeout: 180_000,
}, async () => {
  expect(session.length).toBeGreaterThan(4);
  for (const { commands, shown } of session) {
    const lines = commands.split('\n');
    let output = '';
    for (const line of lines) output += await runLine(line);
    for (const line of shown) {
      // What a table or a refusal says follows what was done within a moment; asking for either again changes nothing.
      const last = lines.at(-1) ?? '';
      const asks = last.startsWith('kubectl get ') || last.endsWith('# fails');
      const look = () => (asks ? runLine(last) : Promise.resolve(output));
      await expect.poll(look, { timeout: 30_000 }).toMatch(patternOf(line));
    }
  }
});
