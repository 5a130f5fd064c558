import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { Debounce } from './debounce.ts';

test('after a quiet time a pass comes soon, and whatever happens until then shares it', async () => {
  const clock = new ManualClock(0);
  const debounce = new Debounce(clock, 50);
  expect(debounce.delayMs('a')).toBe(50);
  await clock.advance(20);
  expect(debounce.delayMs('a')).toBe(30);
  expect(debounce.delayMs('b')).toBe(50);
});

test('while it goes on, passes are five times as far apart; then soon again', async () => {
  const clock = new ManualClock(0);
  const debounce = new Debounce(clock, 50);
  debounce.delayMs('a');
  await clock.advance(60);
  expect(debounce.delayMs('a')).toBe(240);
  await clock.advance(1000);
  expect(debounce.delayMs('a')).toBe(50);
  await clock.advance(60);
  debounce.forget('a');
  expect(debounce.delayMs('a')).toBe(50);
});

test('nothing waits where nothing is to be gathered', () => {
  expect(new Debounce(new ManualClock(0), 0).delayMs('a')).toBe(0);
});
