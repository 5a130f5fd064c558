import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countIndexes,
  countShared,
  firstFree,
  formatIntervals,
  hasIndex,
  intervalsOf,
  mergeIntervals,
  parseIntervals,
} from './intervals.ts';

const indexes = fc.uniqueArray(fc.integer({ min: 0, max: 40 }));

test('intervals print and read back as the same set', () => {
  fc.assert(
    fc.property(indexes, (given) => {
      const intervals = intervalsOf(given);
      expect(parseIntervals(formatIntervals(intervals), 100)).toEqual(intervals);
      expect(countIndexes(intervals)).toBe(given.length);
      for (let index = 0; index <= 41; index += 1) expect(hasIndex(intervals, index)).toBe(given.includes(index));
    }),
  );
});

test('mergeIntervals() and countShared() agree with sets', () => {
  fc.assert(
    fc.property(indexes, indexes, (a, b) => {
      expect(mergeIntervals(intervalsOf(a), intervalsOf(b))).toEqual(intervalsOf(new Set([...a, ...b])));
      expect(countShared(intervalsOf(a), intervalsOf(b))).toBe(a.filter((index) => b.includes(index)).length);
    }),
  );
});

test('firstFree() gives the lowest free indexes', () => {
  fc.assert(
    fc.property(
      indexes,
      fc.integer({ min: 0, max: 10 }),
      fc.integer({ min: 0, max: 45 }),
      (taken, count, completions) => {
        const all = Array.from({ length: completions }, (_, index) => index);
        const want = all.filter((index) => !taken.includes(index)).slice(0, count);
        expect(firstFree(intervalsOf(taken), count, completions)).toEqual(want);
      },
    ),
  );
});

test('formatIntervals() writes neighbours apart and longer runs with a dash', () => {
  expect(formatIntervals(intervalsOf([0, 1, 3, 5, 6, 7]))).toBe('0,1,3,5-7');
});

test('parseIntervals() cuts off at the completions and skips what it cannot read', () => {
  expect(parseIntervals('1,x,3-9', 5)).toEqual([
    [1, 1],
    [3, 4],
  ]);
});
