/** The class of issue 17: what nothing catches stops the process in order, with all that was acknowledged on disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import type { Lease } from '../../src/api/generated/coordination-v1.ts';
import { builtinType } from '../../src/api/registry.ts';
import { leaseType, namespaceType } from '../../src/api/resource-types.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { configMap } from '../../src/testkit/index.ts';
import { configMapType } from '../../src/testkit/types.ts';
import { definitions } from '../../src/webhook/index.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const FAILURE = join(import.meta.dirname, 'fail-on-signal.ts');

const definitionType = builtinType(
  'CustomResourceDefinition',
  'apiextensions.k8s.io',
) as ResourceType<CustomResourceDefinition>;

let folder: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-failure-test-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  output(): string;
}

/** Resolves when the command has said that it is up. */
async function start(command: string, flags: readonly string[], said: string): Promise<Running> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', FAILURE, MAIN, command, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await expect.poll(() => text, { timeout: 120_000 }).toContain(said);
  return { child, exited, output: () => text };
}

async function up(): Promise<Running & { readonly client: Client; readonly kubeconfig: string }> {
  const kubeconfig = join(folder, 'kubeconfig');
  const flags = ['--api-only', '--port', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const server = await start('up', flags, 'export KUBECONFIG=');
  const { send } = createHttpTransport(loadKubeconfig({ path: kubeconfig }));
  return { ...server, kubeconfig, client: createClient({ transport: send, userAgent: 'test' }) };
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
  expect(first.output()).toMatch(/uncaught error; shutting down kind="uncaughtException" requests=\[/);
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

it('17, the class: what nothing catches ends quorate operator in order, and its lease is free at once', async () => {
  const { client, kubeconfig } = await up();
  const namespace = 'quorate-system';
  await client.create(namespaceType, { metadata: { name: namespace } });
  for (const definition of definitions()) await client.create(definitionType, definition);
  const lease = (): Promise<Lease> => client.get(leaseType, { namespace, name: 'quorate' });
  const failures = [
    { signal: 'SIGUSR2', kind: 'uncaughtException', message: 'thrown on purpose' },
    { signal: 'SIGWINCH', kind: 'unhandledRejection', message: 'rejected on purpose' },
  ] as const;
  for (const { kind, message, signal } of failures) {
    const ports = ['--host', '127.0.0.1', '--webhook-port', '0', '--metrics-port', '0'];
    const flags = ['--kubeconfig', kubeconfig, '--identity', signal, ...ports];
    const operator = await start('operator', flags, 'Quorate runs on');
    await expect.poll(async () => (await lease()).spec?.holderIdentity, { timeout: 60_000 }).toBe(signal);
    operator.child.kill(signal);
    expect(await operator.exited).toBe(4);
    expect(operator.output()).toContain(`quorate operator: stopping after an internal failure: ${message}`);
    expect(operator.output()).toMatch(new RegExp(`uncaught error; shutting down kind="${kind}"`));
    expect(operator.output()).not.toMatch(/could not shut down|did not shut down/);
    expect((await lease()).spec?.holderIdentity ?? '').toBe('');
  }
}, 300_000);
