import { expect, test } from 'vitest';
import { ManualClock } from '../../machinery/runtime/index.ts';
import { Tokens } from './tokens.ts';

const holder = { token: 'a.b.c', user: 'alice', namespace: 'shop' };

test('22: a token is kept for twelve hours, under a name that does not hold it', async () => {
  const clock = new ManualClock();
  const tokens = new Tokens(clock);
  const id = tokens.keep(holder);
  expect(id).not.toContain(holder.token);
  await clock.advance(12 * 60 * 60_000 - 1);
  expect(tokens.find(id)).toMatchObject(holder);
  await clock.advance(1);
  expect(tokens.find(id)).toBeUndefined();
});

test('22: whoever shows the same token again is the same, elsewhere another; a forgotten one is nobody', () => {
  const tokens = new Tokens(new ManualClock());
  const id = tokens.keep(holder);
  expect(tokens.keep(holder)).toBe(id);
  const elsewhere = tokens.keep({ ...holder, namespace: 'other' });
  expect(elsewhere).not.toBe(id);
  tokens.forget(id);
  expect(tokens.find(id)).toBeUndefined();
  expect(tokens.find(elsewhere)).toMatchObject({ namespace: 'other' });
});

test('22: of more tokens than are kept the oldest go', () => {
  const tokens = new Tokens(new ManualClock());
  const ids = Array.from({ length: 300 }, (_, at) => tokens.keep({ ...holder, token: String(at) }));
  expect(ids.filter((id) => tokens.find(id) !== undefined)).toEqual(ids.slice(-256));
});
