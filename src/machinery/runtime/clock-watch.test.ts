import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { type ClockStep, watchClock } from './clock-watch.ts';

function watched() {
  const clock = new ManualClock();
  const steps: ClockStep[] = [];
  const watch = watchClock(clock, (step) => steps.push(step));
  return { clock, steps, watch };
}

test.each([3_600_000, -3_600_000])('17: watchClock() tells that the clock was set by %d ms, once', async (byMs) => {
  const { clock, steps } = watched();
  await clock.advance(10_000);
  expect(steps).toEqual([]);
  clock.set(clock.now() + byMs);
  await clock.advance(10_000);
  expect(steps.map(({ setMs }) => setMs)).toEqual([byMs]);
});

test('17: watchClock() tells of a pause as soon as it is asked', () => {
  const { clock, steps, watch } = watched();
  clock.pass(20_000);
  watch.look();
  expect(steps).toEqual([{ setMs: 0, awayMs: 20_000 }]);
});

test('17: watchClock() leaves corrections of a time service alone, and is silent once stopped', async () => {
  const { clock, steps, watch } = watched();
  clock.set(clock.now() - 2000);
  await clock.advance(5000);
  watch.stop();
  clock.set(clock.now() + 3_600_000);
  await clock.advance(5000);
  expect(steps).toEqual([]);
});
