import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoreOptions } from './revisioned-store.ts';
import { CompactedError, type StoredEntry, type Store, type StoreEvent } from './store.ts';

export type OpenStore = (options?: StoreOptions) => Promise<Store>;

/** What every store promises. `open` gives a new, empty store. */
export function describeStore(name: string, open: OpenStore): void {
  describe(name, () => {
    let store: Store;
    let now = 0;

    beforeEach(async () => {
      now = 0;
      store = await open({ now: () => now, history: { maxEvents: 100, maxAgeMs: 1000 } });
    });
    afterEach(() => store.close());

    const put = (key: string, text = key) => store.transact((txn) => txn.put(key, () => Buffer.from(text)));
    const remove = (key: string) => store.transact((txn) => txn.delete(key));
    const read = (key: string) => store.get(key)?.value.toString();
    const keys = (entries: Iterable<StoredEntry>) => [...entries].map(({ key }) => key);

    describe('transact()', () => {
      test('starts at revision zero and gives every change the next revision', async () => {
        expect(store.revision).toBe(0);
        const entries = await store.transact((txn) => [
          txn.put('/a', () => Buffer.from('1')),
          txn.put('/b', () => Buffer.from('2')),
        ]);
        expect(entries.map(({ revision }) => revision)).toEqual([1, 2]);
        await remove('/a');
        expect(store.revision).toBe(3);
      });

      test('keeps the create revision through updates and starts anew after a delete', async () => {
        await put('/a');
        await put('/a');
        expect(store.get('/a')).toMatchObject({ revision: 2, createRevision: 1 });
        await remove('/a');
        await put('/a');
        expect(store.get('/a')).toMatchObject({ revision: 4, createRevision: 4 });
      });

      test('hands the revision to the encoder of a put and of a delete', async () => {
        await store.transact((txn) => txn.put('/a', (revision) => Buffer.from(`v${revision}`)));
        expect(read('/a')).toBe('v1');
        const seen: StoreEvent[] = [];
        store.watch('', store.revision, (events) => seen.push(...events));
        await store.transact((txn) => txn.delete('/a', (revision) => Buffer.from(`last${revision}`)));
        expect(seen[0]?.entry?.value.toString()).toBe('last2');
        expect(seen[0]?.previous?.value.toString()).toBe('v1');
      });

      test('runs its function at once and lets later transactions see unconfirmed writes', async () => {
        const first = put('/a', 'one');
        const second = store.transact((txn) => txn.get('/a')?.value.toString());
        expect(store.get('/a')).toBeUndefined();
        expect(await second).toBe('one');
        expect(read('/a')).toBe('one');
        await first;
      });

      test('is visible to readers and watchers by the time it resolves', async () => {
        let delivered = 0;
        store.watch('/', 0, (events) => {
          delivered += events.length;
        });
        await put('/a');
        expect([read('/a'), store.revision, delivered]).toEqual(['/a', 1, 1]);
      });

      test('writes nothing and takes no revision when its function throws', async () => {
        await put('/a', 'kept');
        const failure = new Error('no');
        const failed = store.transact((txn) => {
          txn.put('/a', () => Buffer.from('lost'));
          txn.put('/new', () => Buffer.from('lost'));
          txn.delete('/a');
          throw failure;
        });
        const after = store.transact((txn) => [txn.get('/a')?.value.toString(), txn.get('/new')]);
        await expect(failed).rejects.toBe(failure);
        expect(await after).toEqual(['kept', undefined]);
        expect([store.revision, store.count('')]).toEqual([1, 1]);
        expect((await put('/b')).revision).toBe(2);
      });

      test('a throw takes back only its own writes, not those of the transaction before', async () => {
        const first = put('/a', 'one');
        const second = store.transact((txn) => {
          txn.put('/a', () => Buffer.from('two'));
          throw new Error('no');
        });
        await expect(second).rejects.toThrow('no');
        await first;
        expect(read('/a')).toBe('one');
      });

      test('runs concurrent read-modify-write transactions one after another', async () => {
        await put('/n', '0');
        const increment = () =>
          store.transact((txn) => {
            const value = Number(txn.get('/n')?.value.toString());
            txn.put('/n', () => Buffer.from(String(value + 1)));
            return value;
          });
        const seen = await Promise.all(Array.from({ length: 200 }, increment));
        expect(seen).toEqual(Array.from({ length: 200 }, (_, at) => at));
        expect(read('/n')).toBe('200');
      });

      test('settles transactions in the order they ran', async () => {
        const order: number[] = [];
        await Promise.all(Array.from({ length: 20 }, (_, at) => put(`/${at}`).then(() => order.push(at))));
        expect(order).toEqual(Array.from({ length: 20 }, (_, at) => at));
      });

      test('a transaction without writes takes no revision', async () => {
        await put('/a');
        expect(await store.transact((txn) => txn.get('/a')?.revision)).toBe(1);
        expect(store.revision).toBe(1);
      });

      test('range() inside sees pending puts and deletes in key order', async () => {
        await put('/p/b');
        await put('/p/d');
        const pending = [put('/p/a'), remove('/p/b'), put('/p/c'), put('/q')];
        expect(await store.transact((txn) => keys(txn.range('/p/')))).toEqual(['/p/a', '/p/c', '/p/d']);
        await Promise.all(pending);
      });

      test('a key may be written several times in one transaction, with an event each', async () => {
        const seen: string[] = [];
        store.watch('', 0, (events) => seen.push(...events.map(({ type, revision }) => `${type}@${revision}`)));
        await store.transact((txn) => {
          txn.put('/a', () => Buffer.from('1'));
          txn.put('/a', () => Buffer.from('2'));
          txn.delete('/a');
          txn.put('/a', () => Buffer.from('3'));
        });
        expect(seen).toEqual(['put@1', 'put@2', 'delete@3', 'put@4']);
        expect([read('/a'), store.get('/a')?.createRevision]).toEqual(['3', 4]);
      });

      test('refuses to delete what is not there, an empty key, and a key too long', async () => {
        await expect(remove('/a')).rejects.toThrow('no such key');
        await expect(put('')).rejects.toThrow('1 to 1500 bytes');
        await expect(put('x'.repeat(1501))).rejects.toThrow('not 1501');
        expect(store.revision).toBe(0);
      });

      test('a transaction object is of no use after its function has returned', async () => {
        const kept = await store.transact((txn) => txn);
        expect(() => kept.put('/a', () => Buffer.from('x'))).toThrow('after its function has returned');
        expect(() => kept.get('/a')).toThrow('after its function has returned');
      });

      test('refuses to run inside another one', async () => {
        const inner = await store.transact(() => ({ promise: put('/a') }));
        await expect(inner.promise).rejects.toThrow('inside another one');
      });

      test('keeps its own copy of the bytes', async () => {
        const bytes = Buffer.from('before');
        await store.transact((txn) => txn.put('/a', () => bytes));
        bytes.fill('x');
        expect(read('/a')).toBe('before');
      });
    });

    describe('range() and count()', () => {
      beforeEach(async () => {
        for (const key of ['/p/b', '/p/a', '/pq', '/p/c', '/q/a', '/p/b/1']) await put(key);
      });

      test('give the keys of a prefix in order', () => {
        expect(keys(store.range('/p/'))).toEqual(['/p/a', '/p/b', '/p/b/1', '/p/c']);
        expect(keys(store.range(''))).toEqual(['/p/a', '/p/b', '/p/b/1', '/p/c', '/pq', '/q/a']);
        expect(store.count('/p/')).toBe(4);
        expect([store.count(''), store.count('/none/')]).toEqual([6, 0]);
      });

      test('start after a key and stop at a limit', () => {
        expect(keys(store.range('/p/', { startAfter: '/p/a', limit: 2 }))).toEqual(['/p/b', '/p/b/1']);
        expect(keys(store.range('/p/', { startAfter: '/p/b/1' }))).toEqual(['/p/c']);
        expect(keys(store.range('/p/', { startAfter: '/p/z' }))).toEqual([]);
        expect(keys(store.range('/p/', { startAfter: '/a' }))).toEqual(['/p/a', '/p/b', '/p/b/1', '/p/c']);
      });

      test('a memo left on an entry stays with it until the key changes', async () => {
        (store.get('/q/a') as StoredEntry).memo = 'decoded';
        expect(store.get('/q/a')?.memo).toBe('decoded');
        await put('/q/a');
        expect(store.get('/q/a')?.memo).toBeUndefined();
      });
    });

    describe('watch()', () => {
      test('replays the history after a revision, then goes on live, without gap or repeat', async () => {
        for (let at = 0; at < 5; at++) await put(`/p/${at}`);
        const seen: number[] = [];
        store.watch('/p/', 2, (events) => seen.push(...events.map(({ revision }) => revision)));
        expect(seen).toEqual([3, 4, 5]);
        await Promise.all([put('/p/5'), put('/q/0'), put('/p/6')]);
        expect(seen).toEqual([3, 4, 5, 6, 8]);
      });

      test('from the current revision gives only what comes, from a later one only what is later', async () => {
        await put('/a');
        const current: number[] = [];
        const later: number[] = [];
        store.watch('', 1, (events) => current.push(...events.map(({ revision }) => revision)));
        store.watch('', 3, (events) => later.push(...events.map(({ revision }) => revision)));
        await Promise.all([put('/b'), put('/c'), put('/d')]);
        await put('/e');
        expect(current).toEqual([2, 3, 4, 5]);
        expect(later).toEqual([4, 5]);
      });

      test('carries the new state, the state before, and the kind of change', async () => {
        const seen: StoreEvent[] = [];
        store.watch('/a', 0, (events) => seen.push(...events));
        await put('/a', 'one');
        await put('/a', 'two');
        await remove('/a');
        const text = (entry?: StoredEntry) => entry?.value.toString();
        expect(seen.map(({ type, entry, previous }) => [type, text(entry), text(previous)])).toEqual([
          ['put', 'one', undefined],
          ['put', 'two', 'one'],
          ['delete', undefined, 'two'],
        ]);
      });

      test('does not see writes still on their way to disk when it starts, but then gets them once', async () => {
        const write = put('/a');
        const seen: number[] = [];
        store.watch('', 0, (events) => seen.push(...events.map(({ revision }) => revision)));
        expect(seen).toEqual([]);
        await write;
        expect(seen).toEqual([1]);
      });

      test('a prefix need not end at a path segment', async () => {
        const seen: string[] = [];
        store.watch('/pods/web', 0, (events) => seen.push(...events.map(({ key }) => key)));
        await Promise.all([put('/pods/web-1'), put('/pods/db-1'), put('/pods/web-2')]);
        expect(seen).toEqual(['/pods/web-1', '/pods/web-2']);
      });

      test('ends when told, also from inside a delivery', async () => {
        let first = 0;
        let second = 0;
        const stops: (() => void)[] = [];
        stops.push(
          store.watch('/', 0, () => {
            first++;
            for (const stop of stops) stop();
          }),
          store.watch('/', 0, () => {
            second++;
          }),
        );
        await put('/a');
        await put('/b');
        expect([first, second]).toEqual([1, 0]);
      });

      test('may be started from inside a delivery and does not get that delivery again', async () => {
        const inner: number[] = [];
        const stop = store.watch('/', 0, () => {
          stop();
          store.watch('/', store.revision, (events) => inner.push(...events.map(({ revision }) => revision)));
        });
        await put('/a');
        await put('/b');
        expect(inner).toEqual([2]);
      });

      test('a watcher that throws loses its watch and nobody else loses anything', async () => {
        const errors: unknown[] = [];
        const own = await open({ onWatchError: (error) => errors.push(error) });
        let calls = 0;
        const seen: string[] = [];
        own.watch('/', 0, () => {
          calls++;
          throw new Error('broken');
        });
        own.watch('/', 0, (events) => seen.push(...events.map(({ key }) => key)));
        for (const key of ['/a', '/b']) await own.transact((txn) => txn.put(key, () => Buffer.from('x')));
        expect([calls, errors.length, seen]).toEqual([1, 1, ['/a', '/b']]);
        await own.close();
      });

      test('every watcher sees the same order under concurrent writers', async () => {
        const logs: number[][] = [[], [], []];
        for (const log of logs) store.watch('/', 0, (events) => log.push(...events.map(({ revision }) => revision)));
        const writer = async (id: number) => {
          for (let at = 0; at < 10; at++) await put(`/${id}/${at}`);
        };
        await Promise.all([0, 1, 2, 3, 4].map(writer));
        for (const log of logs) expect(log).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
      });
    });

    describe('history', () => {
      test('is bounded by count: older watches and snapshots are refused', async () => {
        for (let at = 0; at < 12; at++) await Promise.all(Array.from({ length: 10 }, (_, n) => put(`/${at}/${n}`)));
        expect(store.oldestRevision).toBe(20);
        expect(() => store.watch('', 19, () => {})).toThrow(CompactedError);
        expect(store.rangeAt('', 19)).toBeUndefined();
        expect(store.rangeAt('', 20)?.entries.length).toBe(20);
        let replayed = 0;
        store.watch('', 20, (events) => {
          replayed += events.length;
        });
        expect(replayed).toBe(100);
      });

      test('is bounded by age, without a write having to come along', async () => {
        await put('/a');
        now = 600;
        await put('/b');
        expect(store.oldestRevision).toBe(0);
        now = 1100;
        expect(store.oldestRevision).toBe(1);
        now = 2000;
        expect(store.oldestRevision).toBe(2);
        expect(() => store.watch('', 1, () => {})).toThrow('history starts at revision 2');
        expect(store.rangeAt('', 1)).toBeUndefined();
        expect(keys(store.rangeAt('', 2)?.entries ?? [])).toEqual(['/a', '/b']);
      });

      test('is bounded by the bytes it keeps alive', async () => {
        const small = await open({ history: { maxBytes: 250 } });
        const write = () => small.transact((txn) => txn.put('/a', () => Buffer.alloc(100)));
        for (let at = 0; at < 5; at++) await write();
        expect(small.oldestRevision).toBe(3);
        await small.close();
      });

      test('compact() forgets up to a revision, never past the current one', async () => {
        for (const key of ['/a', '/b', '/c']) await put(key);
        store.compact(2);
        expect(store.oldestRevision).toBe(2);
        store.compact(1);
        expect(store.oldestRevision).toBe(2);
        store.compact(99);
        expect(store.oldestRevision).toBe(3);
        await put('/d');
        const seen: string[] = [];
        store.watch('', 3, (events) => seen.push(...events.map(({ key }) => key)));
        expect(seen).toEqual(['/d']);
      });
    });

    describe('rangeAt()', () => {
      test('gives the range as it was, page by page, with what remains', async () => {
        for (const key of ['/p/a', '/p/c', '/p/e']) await put(key, 'old');
        const then = store.revision;
        await put('/p/b', 'new');
        await put('/p/c', 'new');
        await put('/p/c', 'newer');
        await remove('/p/e');
        await remove('/p/b');
        const first = store.rangeAt('/p/', then, { limit: 2 });
        expect(first?.entries.map(({ key, value }) => `${key}=${value.toString()}`)).toEqual(['/p/a=old', '/p/c=old']);
        expect([first?.more, first?.remaining]).toEqual([true, 1]);
        const second = store.rangeAt('/p/', then, { limit: 2, startAfter: '/p/c' });
        expect(keys(second?.entries ?? [])).toEqual(['/p/e']);
        expect([second?.more, second?.remaining]).toEqual([false, 0]);
      });

      test('at the current revision equals range(); a revision to come is refused', async () => {
        await put('/a');
        await put('/b');
        expect(store.rangeAt('', 2, { limit: 1 })).toMatchObject({ more: true, remaining: 1 });
        expect(store.rangeAt('', 2)?.entries).toEqual(store.range(''));
        expect(store.rangeAt('', 3)).toBeUndefined();
      });
    });

    describe('close()', () => {
      test('waits for queued writes and refuses new ones', async () => {
        const other = await open();
        const write = other.transact((txn) => txn.put('/a', () => Buffer.from('x')));
        const closing = other.close();
        await expect(other.transact(() => 1)).rejects.toThrow('closed');
        await closing;
        expect((await write).revision).toBe(1);
        await other.close();
      });
    });
  });
}
