import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openLmdbStore } from '../../src/storage/index.ts';
import { type Acknowledged, expectKept, expectWhole, parseAcknowledged } from './store-promises.ts';

const ROUNDS = Number(process.env['QUORATE_FAULT_ROUNDS'] ?? 3);
const writerScript = fileURLToPath(new URL('store-writer.ts', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'quorate-crash-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Lets the writer run until it has acknowledged `count` transactions, kills it, and returns all it acknowledged. */
async function runAndKill(count: number): Promise<Acknowledged[]> {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', writerScript, directory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr?.on('data', (data: Buffer) => {
    complaints += data.toString();
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  expect(await ended, complaints).toBe('SIGKILL');
  return parseAcknowledged(lines);
}

test(`a store killed at any moment keeps what it acknowledged, whole (${ROUNDS} rounds)`, {
  timeout: 600_000,
}, async () => {
  let revision = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await runAndKill(1 + Math.floor(Math.random() * 400));
    const store = await openLmdbStore({ directory });
    expectKept(store, acknowledged);
    expectWhole(store);
    expect(store.revision).toBeGreaterThan(revision);
    revision = store.revision;
    await store.close();
  }
});
