import { openLmdbStore } from '../../src/storage/index.ts';
import { measureRate } from './load.ts';
import type { Measure } from './report.ts';
import { withFolder } from './target.ts';

/** The store by itself: durable writes of 2 KB by one writer and by many, and opening what was written. */
export function measureStore({ entries }: { entries: number }): Promise<Measure[]> {
  return withFolder(async (directory) => {
    const value = Buffer.alloc(2048, 'x');
    const store = await openLmdbStore({ directory });
    const put = (number: number) =>
      store.transact((txn) => txn.put(`/registry/pods/namespace-${number % 97}/pod-${number}`, () => value));
    const one = await measureRate({ count: Math.min(500, entries), atOnce: 1 }, put);
    const many = await measureRate({ count: entries, atOnce: 64 }, put);
    await store.close();
    const started = performance.now();
    const again = await openLmdbStore({ directory });
    const openMs = performance.now() - started;
    await again.close();
    return [
      { name: 'store: durable puts, 1 writer', unit: 'per second', value: one },
      { name: 'store: durable puts, 64 writers', unit: 'per second', value: many },
      { name: `store: open with ${entries} entries`, unit: 'ms', value: openMs },
    ];
  });
}
