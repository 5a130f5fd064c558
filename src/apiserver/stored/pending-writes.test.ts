import { expect, test } from 'vitest';
import { createMemoryStore } from '../../storage/index.ts';
import { observeWrites, type PendingWrite } from './pending-writes.ts';

const text = (value: string) => () => Buffer.from(value);

test('observeWrites() tells the writes of a transaction before the next one begins', async () => {
  const { store, writes } = observeWrites(createMemoryStore());
  const told: PendingWrite[] = [];
  writes.listen({ wrote: (some) => told.push(...some), lost: () => {} });
  const first = store.transact((transaction) => transaction.put('/a', text('1')));
  expect(told.map(({ key, entry }) => [key, entry?.value.toString()])).toEqual([['/a', '1']]);
  await store.transact((transaction) => transaction.delete('/a'));
  expect(told.at(-1)).toEqual({ key: '/a', entry: undefined });
  await first;
  expect(store.get('/a')).toBeUndefined();
  expect(store.revision).toBe(2);
  await store.close();
});

test('observeWrites() tells nothing of a transaction that throws', async () => {
  const { store, writes } = observeWrites(createMemoryStore());
  let calls = 0;
  writes.listen({ wrote: () => (calls += 1), lost: () => (calls += 1) });
  const failed = store.transact((transaction) => {
    transaction.put('/a', text('1'));
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(calls).toBe(0);
  await store.close();
});
