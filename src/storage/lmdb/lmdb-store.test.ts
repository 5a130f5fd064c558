import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeStore } from '../store.contract.ts';
import { propertyStore } from '../store-model.contract.ts';
import { createEntry } from '../record.ts';
import type { StoredEntry, Store } from '../store.ts';
import { DirectoryInUseError } from './directory-lock.ts';
import { createDataFile } from './create.ts';
import { openJournal } from './environment.ts';
import { loadFile } from './load.ts';
import { openLmdbStore } from './lmdb-store.ts';

const parent = await mkdtemp(join(tmpdir(), 'quorate-store-'));
afterAll(() => rm(parent, { recursive: true, force: true }));
let count = 0;
const newDirectory = () => join(parent, String(count++));

describeStore('lmdb store', (options) => openLmdbStore({ directory: newDirectory(), ...options }));
propertyStore('lmdb store', (options) => openLmdbStore({ directory: newDirectory(), ...options }), 15);

const put = (store: Store, key: string, text = key) => store.transact((txn) => txn.put(key, () => Buffer.from(text)));

test('openLmdbStore() finds what was written before, values and revisions alike', async () => {
  const directory = newDirectory();
  const first = await openLmdbStore({ directory });
  await put(first, '/b', 'one');
  await put(first, '/a', '');
  await put(first, '/b', 'two');
  await first.close();

  const second = await openLmdbStore({ directory });
  expect(second.range('').map(({ key, value }) => `${key}=${value.toString()}`)).toEqual(['/a=', '/b=two']);
  expect(second.get('/b')).toMatchObject({ revision: 3, createRevision: 1 });
  expect([second.revision, second.oldestRevision]).toEqual([3, 3]);
  expect((await put(second, '/c')).revision).toBe(4);
  await second.close();
});

test('a journal that maps its large file anew now and then loses nothing', async () => {
  const directory = newDirectory();
  await mkdir(directory);
  await createDataFile(directory);
  const journal = await openJournal(directory, { largeBytes: 0 });
  const expected = new Map<string, string>();
  let revision = 0;
  for (let batch = 0; batch < 100; batch += 1) {
    const changes = new Map<string, StoredEntry | undefined>();
    for (let at = 0; at < 50; at += 1) {
      const key = `/k/${(revision * 7919) % 3000}`;
      revision += 1;
      changes.set(key, at === 0 ? undefined : createEntry(key, revision, revision, `value ${revision}`));
    }
    await journal.write(changes, revision);
    for (const [key, entry] of changes) {
      if (entry === undefined) expected.delete(key);
      else expected.set(key, entry.value.toString());
    }
  }
  await journal.close();
  const loaded = loadFile(join(directory, 'data.mdb'));
  expect(loaded.revision).toBe(revision);
  expect(new Map(loaded.entries.map(({ key, value }) => [key, value.toString()]))).toEqual(expected);
});

test('openLmdbStore() never goes back to an earlier revision, even when only deletes came last', async () => {
  const directory = newDirectory();
  const first = await openLmdbStore({ directory });
  await put(first, '/a');
  await first.transact((txn) => txn.delete('/a'));
  await first.close();
  const second = await openLmdbStore({ directory });
  expect([second.revision, second.count('')]).toEqual([2, 0]);
  await second.close();
});

test('openLmdbStore() refuses a directory already open, in words that name the process', async () => {
  const directory = newDirectory();
  const first = await openLmdbStore({ directory });
  await expect(openLmdbStore({ directory })).rejects.toThrow(DirectoryInUseError);
  await expect(openLmdbStore({ directory })).rejects.toThrow(`in use by process ${process.pid}`);
  await first.close();
  await (await openLmdbStore({ directory })).close();
});

test('openLmdbStore() takes over the lock of a process that is gone, and leaves no debris', async () => {
  const directory = newDirectory();
  await mkdir(directory);
  const gone = JSON.stringify({ pid: 4_194_999, host: hostname() });
  const sameIdNewProcess = JSON.stringify({ pid: process.pid, host: hostname(), started: '1' });
  for (const [at, stale] of [gone, sameIdNewProcess, 'not json', ''].entries()) {
    await writeFile(join(directory, `quorate.lock.${at}`), stale);
  }
  await (await openLmdbStore({ directory })).close();
  expect((await readdir(directory)).sort()).toEqual(['data.mdb', 'identity.json', 'lock.mdb']);
});

test('openLmdbStore() does not touch a lock held on another machine', async () => {
  const directory = newDirectory();
  await mkdir(directory);
  await writeFile(join(directory, 'quorate.lock.other'), '{"pid":1,"host":"elsewhere"}');
  await expect(openLmdbStore({ directory })).rejects.toThrow('in use by process 1 on elsewhere');
});

test('of many that open one directory at once, never two succeed', async () => {
  const directory = newDirectory();
  await mkdir(directory);
  await writeFile(join(directory, 'quorate.lock.stale'), 'stale');
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => openLmdbStore({ directory })));
  const opened = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  expect(opened.length).toBeLessThanOrEqual(1);
  await opened[0]?.value.close();
  await (await openLmdbStore({ directory })).close();
});

test('openLmdbStore() makes the directory and its files readable by their owner only', async () => {
  const directory = join(newDirectory(), 'with.dot');
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  const store = await openLmdbStore({ directory });
  const files = await readdir(directory);
  const modes = await Promise.all(
    ['.', ...files].map(async (file) => (await stat(join(directory, file))).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
  await store.close();
});
