import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../../machinery/values/index.ts';
import { createEntry } from '../record.ts';
import type { StoredEntry } from '../store.ts';
import { createDataFile } from './create.ts';
import { DATA_FILE, openJournal } from './environment.ts';
import { PageFile, readMeta } from './page-file.ts';
import { mostPages, DiskRoom } from './room.ts';

const parent = await mkdtemp(join(tmpdir(), 'quorate-room-'));
afterAll(() => rm(parent, { recursive: true, force: true }));

test('Room keeps what is there, and writes zeros behind it only', async () => {
  const path = join(parent, 'file');
  await writeFile(path, 'used');
  const room = await DiskRoom.open(path, 4);
  await Promise.all([room.reserve(10), room.reserve(100_000), room.reserve(50)]);
  await room.close();
  const content = await readFile(path);
  expect(content.length).toBeGreaterThanOrEqual(100_000);
  expect(content.subarray(0, 4).toString()).toBe('used');
  expect(content.subarray(4).every((byte) => byte === 0)).toBe(true);
});

function lastPageOf(path: string): number {
  const file = new PageFile(path);
  try {
    return readMeta(file).lastPage;
  } finally {
    file.close();
  }
}

const ROUNDS = Number(process.env['QUORATE_ROOM_ROUNDS'] ?? 60);
const SEED = fc.readConfigureGlobal().seed ?? 1;

test(`mostPages() is never less than what a commit takes (${ROUNDS} commits, seed ${SEED})`, {
  timeout: 60_000 + ROUNDS * 500,
}, async () => {
  const random = seededRandom(SEED);
  const upTo = (count: number): number => 1 + Math.floor(random() * count);
  await createDataFile(parent);
  const path = join(parent, DATA_FILE);
  const journal = await openJournal(parent);
  const keys: string[] = [];
  let revision = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const changes = new Map<string, StoredEntry | undefined>();
    let largePages = 0;
    const count = random() < 0.2 ? upTo(600) : upTo(12);
    const long = random() < 0.1;
    const deletes = random() < 0.3 ? 0.9 : 0.2;
    const longest = random() < 0.3 ? 40_000 : 3000;
    for (let at = 0; at < count; at += 1) {
      revision += 1;
      const known = keys[Math.floor(random() * keys.length)];
      const key =
        known !== undefined && random() < 0.7 ? known : `/${upTo(1e9)}/${'k'.repeat(long ? upTo(1400) : upTo(60))}`;
      if (random() < deletes && known !== undefined) changes.set(known, undefined);
      else {
        keys.push(key);
        const value = Buffer.alloc(upTo(longest), 'x');
        largePages += Math.floor(value.length / 4096) + 2;
        changes.set(key, createEntry(key, revision, revision, value));
      }
    }
    const before = lastPageOf(path);
    await journal.write(changes, revision);
    expect(lastPageOf(path) - before).toBeLessThanOrEqual(mostPages({ count: changes.size, largePages }, before));
  }
  await journal.close();
});
