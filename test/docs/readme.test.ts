/** Runs the commands of the README as a reader would, one after the other. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from '../clients/host.ts';
import { createKubectl, type Kubectl } from '../clients/kubectl.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```sh\n([^]*?)```/g)].map(([, text = '']) => text.trim());
/** These start and test the whole project; whoever runs this test has just run one of them. */
const OUTER = ['npm ci && npm start', 'npm test'];
const commands = blocks.filter((block) => !OUTER.includes(block)).flatMap((block) => block.split('\n'));

let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost({ nodes: 3 });
  kubectl = createKubectl(host.kubeconfig);
}, 60_000);
afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

async function runLine(line: string): Promise<void> {
  const [command = '', note = ''] = line.split(' # ');
  const [program, ...args] = command.split(' ');
  if (program === 'kubectl') {
    await kubectl.run(
      args.map((arg) => (arg.startsWith('examples/') ? join(root, arg) : arg)),
      { fails: note === 'fails' },
    );
    return;
  }
  expect(`${program} ${args[0]}`).toBe('npx quorate');
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'src', 'cli', 'main.ts'), ...args.slice(1)], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: host.kubeconfig },
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
