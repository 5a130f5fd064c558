import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../machinery/runtime/index.ts';
import { TimerHeap } from './timer-heap.ts';

test('TimerHeap wakes every key once, in order of due time, at its last set time', async () => {
  const sets = fc.array(fc.record({ key: fc.integer({ min: 0, max: 20 }), due: fc.integer({ min: 1, max: 1000 }) }));
  await fc.assert(
    fc.asyncProperty(sets, async (given) => {
      const clock = new ManualClock(0);
      const woken: { key: string; at: number }[] = [];
      const heap = new TimerHeap(clock, (key) => woken.push({ key, at: clock.now() }));
      const last = new Map<string, number>();
      for (const { key, due } of given) {
        heap.set(String(key), due);
        last.set(String(key), due);
      }
      await clock.advance(1000);
      expect(woken.map(({ at }) => at)).toEqual(woken.map(({ at }) => at).toSorted((a, b) => a - b));
      expect(new Map(woken.map(({ key, at }) => [key, at]))).toEqual(last);
      expect(woken.length).toBe(last.size);
    }),
    { numRuns: 25 },
  );
});

test('TimerHeap does not wake a cleared key', async () => {
  const clock = new ManualClock(0);
  const woken: string[] = [];
  const heap = new TimerHeap(clock, (key) => woken.push(key));
  heap.set('a', 10);
  heap.set('b', 20);
  heap.clear('a');
  await clock.advance(100);
  expect(woken).toEqual(['b']);
});
