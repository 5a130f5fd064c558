import { expect, test } from 'vitest';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import type { Informer, InformerHandler } from '../../machinery/runtime/index.ts';
import { newestLedgers } from './newest-ledgers.ts';

const ledger = (resourceVersion: string, disruptionsAllowed: number): DisruptionLedger => ({
  metadata: { namespace: 'default', name: 'gangs', resourceVersion },
  status: { disruptionsAllowed },
});

/** Stands for the watch: what it was told last is what the copy holds. */
function watched() {
  const handlers: InformerHandler<DisruptionLedger>[] = [];
  let held: DisruptionLedger | undefined;
  const informer = {
    get: () => held,
    addHandler: (handler: InformerHandler<DisruptionLedger>) => handlers.push(handler),
    whenSynced: () => Promise.resolve(),
  } as unknown as Informer<DisruptionLedger>;
  const show = (next: DisruptionLedger): void => {
    const old = held;
    held = next;
    for (const { added, updated } of handlers) {
      if (old === undefined) added?.(next, false);
      else updated?.(next, old);
    }
  };
  const remove = (): void => {
    const old = held as DisruptionLedger;
    held = undefined;
    for (const { deleted } of handlers) deleted?.(old);
  };
  return { ledgers: newestLedgers(informer), show, remove };
}

test('newestLedgers() gives what was written here until the watch shows as much', () => {
  const { ledgers, show } = watched();
  const allowed = (): number | undefined => ledgers.get('default', 'gangs')?.status?.disruptionsAllowed;
  show(ledger('9', 3));
  ledgers.written(ledger('11', 2));
  expect(allowed()).toBe(2);
  show(ledger('10', 7));
  expect(allowed()).toBe(2);
  show(ledger('12', 1));
  expect(allowed()).toBe(1);
  ledgers.written(ledger('11', 2));
  expect(allowed()).toBe(1);
});

test('newestLedgers() forgets a ledger that is gone', () => {
  const { ledgers, remove, show } = watched();
  show(ledger('9', 3));
  ledgers.written(ledger('11', 2));
  remove();
  expect(ledgers.get('default', 'gangs')).toBeUndefined();
  // The answer to a write may come after the news that its object is gone.
  ledgers.written(ledger('11', 2));
  ledgers.forget(ledger('11', 2));
  expect(ledgers.get('default', 'gangs')).toBeUndefined();
});

test('newestLedgers() has told itself before it tells those who follow', () => {
  const { ledgers, show } = watched();
  const told: (number | undefined)[] = [];
  ledgers.follow(() => told.push(ledgers.get('default', 'gangs')?.status?.disruptionsAllowed));
  ledgers.written(ledger('11', 2));
  show(ledger('12', 1));
  expect(told).toEqual([1]);
});
