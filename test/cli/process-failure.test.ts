/** The class of issue 17: what nothing catches stops the process in order, with all that was acknowledged on disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { configMap } from '../../src/testkit/index.ts';
import { configMapType } from '../../src/testkit/types.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const FAILURE = join(import.meta.dirname, 'fail-on-signal.ts');

let folder: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-failure-test-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function up() {
  const kubeconfig = join(folder, 'kubeconfig');
  const flags = ['--api-only', '--port', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', FAILURE, MAIN, 'up', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await expect.poll(() => text, { timeout: 120_000 }).toContain('export KUBECONFIG=');
  const { send } = createHttpTransport(loadKubeconfig({ path: kubeconfig }));
  return { child, exited, output: () => text, client: createClient({ transport: send, userAgent: 'test' }) };
}

it('17, the class: what nothing catches ends quorate up in order and nothing acknowledged is lost', async () => {
  const first = await up();
  const acknowledged: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let at = 0; ; at += 1) {
      const { metadata } = await first.client.create(configMapType, configMap({ name: `c-${writer}-${at}` }));
      acknowledged.push(metadata.name ?? '');
    }
  };
  const writers = [1, 2, 3, 4].map((writer) => write(writer).catch(() => {}));
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(50);
  first.child.kill('SIGUSR2');
  expect(await first.exited).toBe(4);
  await Promise.all(writers);
  expect(first.output()).toContain('quorate up: stopping after an internal failure: thrown on purpose');
  expect(first.output()).toMatch(/a failure that nothing caught: stopping kind="uncaughtException" requests=\[/);
  expect(first.output()).toContain('Stopped. The next quorate up continues here.');

  const second = await up();
  const { items } = await second.client.list(configMapType, { namespace: 'default' });
  const kept = new Set(items.map(({ metadata }) => metadata.name));
  expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
  second.child.kill('SIGWINCH');
  expect(await second.exited).toBe(4);
  expect(second.output()).toMatch(/kind="unhandledRejection" requests=\[.*rejected on purpose/);
  expect(second.output()).toContain('Stopped. The next quorate up continues here.');
}, 300_000);
