import { expect, test } from 'vitest';
import { type Journal, RevisionedStore } from './revisioned-store.ts';
import { FlushError, type Store } from './store.ts';

const put = (store: Store, key: string) => store.transact((txn) => txn.put(key, () => Buffer.from(key)));

/** A journal whose writes end when and how the test says. */
function heldJournal() {
  const writes: { keys: string[]; revision: number; succeed: () => void; fail: (error: Error) => void }[] = [];
  let announce = () => {};
  const journal: Journal = {
    write: (changes, revision) =>
      new Promise<void>((succeed, fail) => {
        writes.push({ keys: [...changes.keys()], revision, succeed, fail });
        announce();
      }),
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const nextWrite = () =>
    new Promise<void>((resolve) => {
      announce = resolve;
    });
  return { journal, writes, nextWrite };
}

test('transactions of one turn share a flush, those that come during it share the next', async () => {
  const { journal, writes, nextWrite } = heldJournal();
  const store = new RevisionedStore(journal, { entries: [], revision: 0 });
  const first = [put(store, '/a'), put(store, '/b')];
  await nextWrite();
  const second = [put(store, '/c'), put(store, '/d')];
  expect(store.revision).toBe(0);
  const next = nextWrite();
  writes[0]?.succeed();
  await Promise.all(first);
  expect([store.revision, store.get('/c')]).toEqual([2, undefined]);
  await next;
  writes[1]?.succeed();
  await Promise.all(second);
  expect(writes.map(({ keys, revision }) => [keys, revision])).toEqual([
    [['/a', '/b'], 2],
    [['/c', '/d'], 4],
  ]);
});

test('a transaction that only reads settles after the write it saw is durable', async () => {
  const { journal, writes, nextWrite } = heldJournal();
  const store = new RevisionedStore(journal, { entries: [], revision: 0 });
  const order: string[] = [];
  const write = put(store, '/a').then(() => order.push('write'));
  const read = store.transact((txn) => txn.get('/a')?.key).then((key) => order.push(`read ${key}`));
  await nextWrite();
  const during = store.transact((txn) => txn.get('/a')?.key).then((key) => order.push(`during ${key}`));
  await Promise.resolve();
  expect(order).toEqual([]);
  writes[0]?.succeed();
  await Promise.all([write, read, during]);
  expect(order).toEqual(['write', 'read /a', 'during /a']);
});

test('a failed flush fails everything built on it, and nothing of it is ever seen', async () => {
  const { journal, writes, nextWrite } = heldJournal();
  const store = new RevisionedStore(journal, { entries: [], revision: 0 });
  const seen: string[] = [];
  store.watch('', 0, (events) => seen.push(...events.map(({ key, revision }) => `${key}@${revision}`)));
  const settled = put(store, '/kept');
  await nextWrite();
  writes[0]?.succeed();
  await settled;

  const doomed = [put(store, '/a'), store.transact((txn) => txn.get('/a')?.key)];
  await nextWrite();
  doomed.push(put(store, '/b'));
  writes[1]?.fail(new Error('no space left on device'));
  for (const outcome of await Promise.allSettled(doomed)) {
    expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(FlushError);
  }
  expect([store.revision, store.count('')]).toEqual([1, 1]);

  const later = put(store, '/later');
  await nextWrite();
  writes[2]?.succeed();
  // The revisions of the failed writes are not used again: they may have reached the disk after all.
  expect((await later).revision).toBe(4);
  expect(seen).toEqual(['/kept@1', '/later@4']);
  expect(writes.length).toBe(3);
  expect(await store.transact((txn) => [...txn.range('')].map(({ key }) => key))).toEqual(['/kept', '/later']);
});

test('an answer that rests on a write that never reached the disk is taken back', async () => {
  const { journal, writes, nextWrite } = heldJournal();
  const store = new RevisionedStore(journal, { entries: [], revision: 0 });
  const create = () =>
    store.transact((txn) => {
      if (txn.get('/a') !== undefined) throw new Error('already exists');
      txn.put('/a', () => Buffer.from('x'));
    });
  const outcomes = Promise.allSettled([create(), create()]);
  await nextWrite();
  writes[0]?.fail(new Error('disk'));
  for (const outcome of await outcomes) {
    expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(FlushError);
  }
});

test('FlushError says what failed and keeps the cause', () => {
  const cause = new Error('No space left on device');
  const error = new FlushError(cause);
  expect(error.message).toBe(
    'Cannot write to the data directory: No space left on device. Nothing of this change was kept',
  );
  expect(error.cause).toBe(cause);
});
