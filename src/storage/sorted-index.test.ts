import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedIndex } from './sorted-index.ts';

const name = (at: number) => `/k/${String(at).padStart(6, '0')}`;

test('SortedIndex keeps thousands of keys in order, whatever order they come in', () => {
  for (const order of ['up', 'down', 'mixed'] as const) {
    const index = new SortedIndex<{ key: string }>();
    for (let at = 0; at < 5000; at++) {
      const number = order === 'up' ? at : order === 'down' ? 4999 - at : (at * 7919) % 5000;
      index.set({ key: name(number) });
    }
    const expected = Array.from({ length: 5000 }, (_, at) => name(at));
    expect(index.range('/k/').map(({ key }) => key)).toEqual(expected);
    expect(index.range('/k/', { startAfter: name(1999), limit: 1000 }).map(({ key }) => key)).toEqual(
      expected.slice(2000, 3000),
    );
    expect(index.count('/k/', name(1999))).toBe(3000);
    expect(index.count('/k/0010')).toBe(100);
    for (let at = 0; at < 5000; at += 2) index.delete(name(at));
    expect([index.size, index.get(name(2)), index.get(name(3))?.key]).toEqual([2500, undefined, name(3)]);
    expect(index.range('/k/').map(({ key }) => key)).toEqual(expected.filter((_, at) => at % 2 === 1));
  }
});

test('SortedIndex.fromSorted() serves and takes further keys', () => {
  const index = SortedIndex.fromSorted(Array.from({ length: 2000 }, (_, at) => ({ key: name(at * 2) })));
  for (let at = 0; at < 2000; at++) index.set({ key: name(at * 2 + 1) });
  expect(index.range('').map(({ key }) => key)).toEqual(Array.from({ length: 4000 }, (_, at) => name(at)));
});

test('SortedIndex equals a sorted map under random operations', () => {
  const operation = fc.tuple(fc.nat(1500), fc.boolean());
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 3000, size: 'max' }),
      fc.nat(1500),
      fc.nat(50),
      (operations, after, limit) => {
        const index = new SortedIndex<{ key: string }>();
        const model = new Set<string>();
        for (const [at, remove] of operations) {
          if (remove) index.delete(name(at));
          else index.set({ key: name(at) });
          if (remove) model.delete(name(at));
          else model.add(name(at));
        }
        const sorted = [...model].sort();
        const rest = sorted.filter((key) => key > name(after));
        expect(index.size).toBe(model.size);
        expect(index.range('').map(({ key }) => key)).toEqual(sorted);
        expect(index.range('/k/', { startAfter: name(after), limit }).map(({ key }) => key)).toEqual(
          rest.slice(0, limit),
        );
        expect(index.count('/k/', name(after))).toBe(rest.length);
      },
    ),
    { numRuns: 40 },
  );
});
