import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { openCluster } from '../../src/cli/shared/cluster.ts';
import { type Client, isNotFound } from '../../src/machinery/runtime/index.ts';

const ROUNDS = Number(process.env['QUORATE_FAULT_ROUNDS'] ?? 1);
const CLIENTS = 12;
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const configMapType = builtinType('ConfigMap', '', 'v1');

const folder = mkdtempSync(join(tmpdir(), 'quorate-killed-'));
const kubeconfig = join(folder, 'kubeconfig');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function up(): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
  const flags = ['--port', '0', '--nodes', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'up', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  await expect.poll(() => text, { timeout: 120_000 }).toContain('export KUBECONFIG=');
  return { child, ended };
}

/** What a client knows of one object: the newest answer it got, and the change it had sent when the server died. */
interface Known {
  readonly name: string;
  /** Undefined once its deletion was acknowledged. */
  acknowledged: { readonly value: number; readonly revision: number } | undefined;
  pending: { readonly value: number | undefined } | undefined;
}

/** Creates, changes and deletes objects of its own, one request at a time, until the server is gone. */
async function write(client: Client, owner: string, known: Known[], done: () => void): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const live = known.filter(({ acknowledged }) => acknowledged !== undefined);
    const old = turn % 3 === 0 ? undefined : live[turn % Math.max(live.length, 1)];
    const object: Known = old ?? { name: `${owner}-${turn}`, acknowledged: undefined, pending: undefined };
    if (old === undefined) known.push(object);
    const gone = old !== undefined && turn % 5 === 4;
    object.pending = { value: gone ? undefined : turn };
    const key = { namespace: 'default', name: object.name };
    // The same number twice: half a write would tell them apart.
    const data = { first: String(turn), second: String(turn), padding: 'x'.repeat(2000) };
    try {
      let answer: KubeObject | undefined;
      if (old === undefined) answer = await client.create(configMapType, { metadata: key, data } as KubeObject);
      else if (gone) await client.delete(configMapType, key);
      else answer = await client.patch(configMapType, key, { type: 'merge', body: { data } });
      object.acknowledged = answer && { value: turn, revision: Number(answer.metadata.resourceVersion) };
      object.pending = undefined;
      done();
    } catch {
      return;
    }
  }
}

async function expectKept(client: Client, known: readonly Known[], newest: number): Promise<void> {
  for (const { acknowledged, name, pending } of known) {
    const found = await client
      .get<KubeObject & { data?: Record<string, string> }>(configMapType, { namespace: 'default', name })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    expect(found?.data?.['first'], name).toBe(found?.data?.['second']);
    const value = found === undefined ? undefined : Number(found.data?.['first']);
    // The request in flight may have been written or not; everything before it was.
    const possible = [acknowledged?.value, ...(pending === undefined ? [] : [pending.value])];
    expect(possible, name).toContain(value);
    if (value !== undefined && value === acknowledged?.value) {
      expect(Number(found?.metadata.resourceVersion), name).toBe(acknowledged.revision);
    }
  }
  const { metadata } = await client.list(configMapType, { namespace: 'default' });
  expect(Number(metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
}

test(`quorate up killed under load keeps what it acknowledged, whole (${ROUNDS} rounds)`, {
  timeout: 120_000 + ROUNDS * 30_000,
}, async () => {
  let newest = 0;
  let server = await up();
  for (let round = 0; round < ROUNDS; round += 1) {
    const known: Known[][] = Array.from({ length: CLIENTS }, () => []);
    const cluster = openCluster({ kubeconfig });
    let left = 1 + Math.floor(Math.random() * 600);
    const done = (): void => {
      left -= 1;
      if (left === 0) server.child.kill('SIGKILL');
    };
    await Promise.all(known.map((mine, at) => write(cluster.client, `r${round}-c${at}`, mine, done)));
    await server.ended;
    cluster.close();

    server = await up();
    const after = openCluster({ kubeconfig });
    const all = known.flat();
    newest = Math.max(newest, ...all.map(({ acknowledged }) => acknowledged?.revision ?? 0));
    await expectKept(after.client, all, newest);
    after.close();
  }
  server.child.kill('SIGKILL');
  await server.ended;
});
