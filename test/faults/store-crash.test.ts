import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openLmdbStore, type Store } from '../../src/storage/index.ts';

const ROUNDS = Number(process.env['QUORATE_FAULT_ROUNDS'] ?? 3);
const writerScript = fileURLToPath(new URL('store-writer.ts', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'quorate-crash-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Acknowledged {
  readonly writer: string;
  readonly number: number;
  readonly revision: number;
}

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
  // The kill may cut the last line short.
  return lines
    .map((line) => /^(\d+) (\d+) (\d+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, writer, number, revision]) => ({ writer: writer!, number: Number(number), revision: Number(revision) }));
}

function expectKept(store: Store, acknowledged: readonly Acknowledged[]): void {
  const newest = new Map<string, number>();
  for (const { writer, number, revision } of acknowledged) {
    newest.set(writer, Math.max(newest.get(writer) ?? 0, number));
    expect(store.revision).toBeGreaterThanOrEqual(revision);
  }
  for (const { writer, number } of acknowledged) {
    // The next transactions of the same writer, acknowledged or not, may have removed what is four numbers older.
    if (number > newest.get(writer)! - 3) expect(store.get(`/left/${writer}/${number}`)).toBeDefined();
    if (number <= newest.get(writer)! - 4) expect(store.get(`/left/${writer}/${number}`)).toBeUndefined();
  }
}

function expectWhole(store: Store): void {
  const names = (side: string) => store.range(side).map(({ key }) => key.slice(side.length));
  expect(names('/left/')).toEqual(names('/right/'));
  for (const { key, value, revision } of store.range('')) {
    const content = JSON.parse(value.toString()) as { revision: number; number: number };
    expect([content.revision, content.number]).toEqual([revision, Number(key.split('/').pop())]);
    expect(revision).toBeLessThanOrEqual(store.revision);
  }
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
