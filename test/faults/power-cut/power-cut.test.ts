/**
 * A power cut, imitated below the file system: what the store's process wrote is recorded, and for many moments the
 * disk is put together as it may be found then, with unflushed sectors lost, torn and out of order.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../../../src/machinery/values/index.ts';
import { openLmdbStore } from '../../../src/storage/index.ts';
import { expectKept, expectWhole, parseAcknowledged } from '../store-promises.ts';
import { Disk, parseSteps, type Step } from './disk.ts';

const asked = process.env['QUORATE_POWER_CUTS'];
const CUTS = Number(asked ?? 20);
const SEED = fc.readConfigureGlobal().seed ?? 1;
const folder = mkdtempSync(join(tmpdir(), 'quorate-power-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const canRecord = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;
if (!canRecord && asked !== undefined) {
  throw new Error('Cannot imitate power cuts: recording the writes of a process needs Linux and gcc');
}

/** Lets the writer of `store-crash.test.ts` run until it has been promised so much, and gives what its disk saw. */
async function record(directory: string, promises: number): Promise<Step[]> {
  const recorder = join(folder, 'record-writes.so');
  const log = join(folder, 'log');
  execFileSync('gcc', [
    '-shared',
    '-fPIC',
    '-O1',
    '-o',
    recorder,
    join(import.meta.dirname, 'record-writes.c'),
    '-ldl',
  ]);
  const writer = join(import.meta.dirname, '..', 'store-writer.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', writer, directory], {
    env: { ...process.env, LD_PRELOAD: recorder, WRITES_OF: directory, WRITES_LOG: log, UV_USE_IO_URING: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  let lines = 0;
  for await (const _ of createInterface({ input: child.stdout })) {
    lines += 1;
    if (lines === promises) child.kill('SIGKILL');
  }
  expect(await ended).toBe('SIGKILL');
  return parseSteps(readFileSync(log));
}

/** Cuts the power at so many moments, and looks at what is found each time. */
async function cutAndCheck(directory: string, first: Buffer, steps: readonly Step[]): Promise<void> {
  const random = seededRandom(SEED);
  const moments = Array.from({ length: CUTS }, () => Math.floor(random() * steps.length)).sort((a, b) => a - b);
  const disk = new Disk(first);
  const said: string[] = [];
  let next = 0;
  for (const [at, step] of steps.entries()) {
    disk.apply(step);
    if (step.kind === 'said') said.push(...step.text.trimEnd().split('\n'));
    for (; moments[next] === at; next += 1) {
      const found = mkdtempSync(join(folder, 'found-'));
      copyFileSync(join(directory, 'identity.json'), join(found, 'identity.json'));
      writeFileSync(join(found, 'data.mdb'), disk.cut(random));
      const store = await openLmdbStore({ directory: found });
      expectKept(store, parseAcknowledged(said));
      expectWhole(store);
      // It goes on from there.
      await store.transact((txn) => txn.put('/after', () => Buffer.from('the cut')));
      await store.close();
      rmSync(found, { recursive: true });
    }
  }
  expect(next).toBe(CUTS);
}

test.skipIf(!canRecord)(
  `17: nothing acknowledged is lost by a power cut (${CUTS} cuts, seed ${SEED})`,
  {
    timeout: 60_000 + CUTS * 2000,
  },
  async () => {
    console.log(`power cuts: ${CUTS}, seed ${SEED} (QUORATE_SEED repeats the cuts, not what was written)`);
    const directory = join(folder, 'store');
    await (await openLmdbStore({ directory })).close();
    const first = readFileSync(join(directory, 'data.mdb'));
    const steps = await record(directory, CUTS < 100 ? 60 : 500);
    for (const kind of ['write', 'written', 'flushed', 'said']) {
      expect(steps.filter((step) => step.kind === kind).length, `steps of kind ${kind}`).toBeGreaterThan(5);
    }
    await cutAndCheck(directory, first, steps);
    // The check itself: were nothing ever flushed, it would be found out.
    const unflushed = steps.filter(({ kind }) => kind !== 'flushed' && kind !== 'written');
    await expect(cutAndCheck(directory, first, unflushed)).rejects.toThrow();
  },
);
