import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { Gathering } from './gathering.ts';

test('after a quiet time a pass comes soon, and whatever happens until then shares it', async () => {
  const clock = new ManualClock(0);
  const gathering = new Gathering(clock, 50);
  expect(gathering.delayMs('a')).toBe(50);
  await clock.advance(20);
  expect(gathering.delayMs('a')).toBe(30);
  expect(gathering.delayMs('b')).toBe(50);
});

test('while it goes on, passes are five times as far apart; then soon again', async () => {
  const clock = new ManualClock(0);
  const gathering = new Gathering(clock, 50);
  gathering.delayMs('a');
  await clock.advance(60);
  expect(gathering.delayMs('a')).toBe(240);
  await clock.advance(1000);
  expect(gathering.delayMs('a')).toBe(50);
  await clock.advance(60);
  gathering.forget('a');
  expect(gathering.delayMs('a')).toBe(50);
});

test('nothing waits where nothing is to be gathered', () => {
  expect(new Gathering(new ManualClock(0), 0).delayMs('a')).toBe(0);
});
