import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreDamagedError } from './damage.ts';
import { loadFile } from './load.ts';
import { openLmdbStore } from './lmdb-store.ts';

const PAGE = 4096;
const parent = await mkdtemp(join(tmpdir(), 'quorate-damage-'));
afterAll(() => rm(parent, { recursive: true, force: true }));
const whole = join(parent, 'whole');
let bytes: Buffer;
let expected: string;

const contentOf = (loaded: ReturnType<typeof loadFile>): string =>
  JSON.stringify([
    loaded.revision,
    loaded.entries.map(({ key, revision, value }) => [key, revision, value.toString()]),
  ]);

beforeAll(async () => {
  const store = await openLmdbStore({ directory: whole });
  for (let round = 0; round < 12; round += 1) {
    await store.transact((txn) => {
      for (let at = 0; at < 40; at += 1) {
        const key = `/registry/pods/default/pod-${(round * 17 + at) % 120}`;
        if (at % 5 === 4 && txn.get(key) !== undefined) txn.delete(key);
        else txn.put(key, (revision) => Buffer.alloc(at === 7 ? 30_000 : 300 + at * 20, `${key} ${revision} `));
      }
    });
  }
  await store.close();
  bytes = await readFile(join(whole, 'data.mdb'));
  expected = contentOf(loadFile(join(whole, 'data.mdb')));
});

let count = 0;
/** A copy of the whole store whose data file has been changed. */
async function damaged(change: (path: string) => Promise<unknown>): Promise<string> {
  const directory = join(parent, String(count++));
  await mkdir(directory);
  for (const file of await readdir(whole)) await copyFile(join(whole, file), join(directory, file));
  await change(join(directory, 'data.mdb'));
  return directory;
}

async function expectRefused(directory: string, problem: RegExp): Promise<void> {
  const error = await openLmdbStore({ directory }).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(StoreDamagedError);
  const { message } = error as Error;
  expect(message).toMatch(problem);
  expect(message).toContain(join(directory, 'data.mdb'));
  expect(message).toContain('Restore "');
  // It is left as it was found, for whoever comes to look.
  expect((await readdir(directory)).filter((file) => file.startsWith('quorate.lock'))).toEqual([]);
}

const overwrite = (at: number, content: Buffer) => async (path: string) => {
  const file = await open(path, 'r+');
  await file.write(content, 0, content.length, at);
  await file.close();
};

describe('17.5: a damaged store is refused in words, and never by a crash', () => {
  const cases: [name: string, change: (path: string) => Promise<unknown>, problem: RegExp][] = [
    ['vanished', (path) => rm(path), /the file is missing/],
    ['emptied', (path) => truncate(path), /the file is empty/],
    ['one byte long', (path) => truncate(path, 1), /the file ends after 1 bytes/],
    ['one page long', (path) => truncate(path, PAGE), /header 2 lies behind that/],
    ['only headers', (path) => truncate(path, 2 * PAGE), /page \d+ lies behind that/],
    ['zeros', (path) => writeFile(path, Buffer.alloc(100_000)), /header 1 is not one of a store/],
    ['text', (path) => writeFile(path, 'hello '.repeat(10_000)), /header 1 is not one of a store/],
    ['first header gone', overwrite(0, Buffer.alloc(PAGE)), /header 1 is not one of a store/],
    ['second header gone', overwrite(PAGE, Buffer.alloc(PAGE)), /header 2 is not one of a store/],
  ];
  it.each(cases)('%s', async (_, change, problem) => expectRefused(await damaged(change), problem));

  it('of another store', async () => {
    const other = join(parent, 'other');
    await (await openLmdbStore({ directory: other })).close();
    const directory = await damaged((path) => copyFile(join(other, 'data.mdb'), path));
    await expectRefused(directory, /not the data file that identity\.json beside it was written for/);
  });

  it('vanished with its folder, while what was made after it is still there', async () => {
    const directory = join(parent, 'gone');
    const companion = join(parent, 'pki');
    await mkdir(companion);
    await expect(openLmdbStore({ directory, companion })).rejects.toThrow('other files show that there was one');
  });

  it('truncated anywhere: refused, or nothing is missing', async () => {
    const path = join(parent, 'cut.mdb');
    for (let length = bytes.length - 1; length > 0; length -= length > 3 * PAGE ? 15_319 : 997) {
      await writeFile(path, bytes.subarray(0, length));
      expectIntactOrRefused(path);
    }
  });

  it('with bytes changed anywhere: refused, or nothing is missing', async () => {
    const used = fc.integer({ min: 0, max: bytes.length - 1 });
    // Half of the changes go to headers, where they do most harm.
    const place = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: PAGE, max: PAGE + 200 }), used, used);
    const path = join(parent, 'flipped.mdb');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(place, fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const copy = Buffer.from(bytes);
          for (const [at, bits] of changes) copy[at] = (copy[at] as number) ^ bits;
          await writeFile(path, copy);
          expectIntactOrRefused(path);
        },
      ),
      { numRuns: 100 },
    );
  });

  function expectIntactOrRefused(path: string): void {
    try {
      expect(contentOf(loadFile(path)) === expected).toBe(true);
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error;
    }
  }
});

it('a store whose data file came back without its companion files is opened, and gets them', async () => {
  const directory = await damaged(async (path) => rm(join(path, '..', 'identity.json')));
  await (await openLmdbStore({ directory })).close();
  expect(await readdir(directory)).toContain('identity.json');
});

it('a store whose creation was cut short is created anew', async () => {
  const directory = join(parent, 'cut-short');
  await mkdir(join(directory, 'draft'), { recursive: true });
  await writeFile(join(directory, 'draft', 'data.mdb'), Buffer.alloc(100));
  await (await openLmdbStore({ directory })).close();
  expect(await readdir(directory)).not.toContain('draft');
});
