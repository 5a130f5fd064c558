/** A disk that fails (EIO) instead of being full: what the server says then, and what is there afterwards. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClusterConnection, openCluster } from '../../../src/cli/shared/cluster.ts';
import { openLmdbStore } from '../../../src/storage/index.ts';
import { ask } from '../../shared/answers.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');
const MAPS = '/api/v1/namespaces/default/configmaps';
const ROUNDS = 20;

const canPreload = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'quorate-failing-'));
const library = join(folder, 'fail-writes.so');
const running: ChildProcess[] = [];
beforeAll(() => {
  if (!canPreload) return;
  const source = join(import.meta.dirname, 'fail-writes.c');
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function up(home: string): Promise<{ child: ChildProcess; ended: Promise<unknown>; cluster: ClusterConnection }> {
  const kubeconfig = join(home, 'kubeconfig');
  const data = join(home, 'data');
  const flags = ['--port', '0', '--api-only', '--data-dir', data, '--kubeconfig', kubeconfig];
  const failing = { FAIL_OF: join(data, 'store'), FAIL_WHAT: join(home, 'fails'), LD_PRELOAD: library };
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'up', ...flags], {
    env: { ...process.env, ...failing, UV_USE_IO_URING: '0' },
  });
  running.push(child);
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (text += part.toString()));
  await expect.poll(() => text, { timeout: 120_000 }).toContain('export KUBECONFIG=');
  return { child, ended, cluster: openCluster({ kubeconfig }) };
}

const failures = [
  // Found before the store is touched, so that a disk that is well again is used again.
  { what: 'write', why: 'the disk fails: EIO: i/o error, write', recovers: true },
  // What is on disk is not known any more: only a restart tells.
  { what: 'flush', why: 'the last write failed (Input/output error); restart the server', recovers: false },
];

test.skipIf(!canPreload).each(failures)(
  '17.4: where each $what of the disk fails nothing acknowledged is lost, reads go on and /readyz says why',
  { timeout: 120_000 },
  async ({ recovers, what, why }) => {
    const home = mkdtempSync(join(folder, `${what}-`));
    const first = await up(home);
    const kept: string[] = [];
    const create = async (at: number): Promise<[number, string]> => {
      const object = { metadata: { name: `m${at}` }, data: { text: 'x'.repeat(3000 * (at % 7)) } };
      const answer = await ask(first.cluster, 'POST', MAPS, object);
      if (answer[0] === 201) kept.push(`m${at}`);
      return answer;
    };
    for (let at = 0; at < ROUNDS; at += 1) expect((await create(at))[0]).toBe(201);
    writeFileSync(join(home, 'fails'), what);
    for (let at = ROUNDS; at < 2 * ROUNDS; at += 1) {
      expect(await create(at)).toEqual([500, expect.stringContaining(why)]);
    }
    const unready = [500, expect.stringContaining(`[-]storage failed: ${why}`)];
    expect(await ask(first.cluster, 'GET', '/readyz')).toEqual(unready);
    expect(await ask(first.cluster, 'GET', '/livez')).toEqual([200, 'ok']);
    expect((await ask(first.cluster, 'GET', `${MAPS}/m0`))[0]).toBe(200);
    writeFileSync(join(home, 'fails'), '');
    expect((await create(2 * ROUNDS))[0]).toBe(recovers ? 201 : 500);
    expect((await ask(first.cluster, 'GET', '/readyz'))[0]).toBe(recovers ? 200 : 500);
    first.cluster.close();
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);

    const store = await openLmdbStore({ directory: join(home, 'data', 'store') });
    const keys = store.range('').map(({ key }) => key);
    const names = keys.flatMap((key) => /\/configmaps\/default\/(m\d+)$/.exec(key)?.[1] ?? []);
    expect(names.sort()).toEqual(kept.sort());
    await store.transact((txn) => txn.put('/after', () => Buffer.from('the failure')));
    await store.close();
  },
);
