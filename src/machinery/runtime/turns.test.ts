import { expect, test } from 'vitest';
import { nextTurn } from './turns.ts';

test('nextTurn() lets one of all that wait go on in each round of the event loop', async () => {
  const order: string[] = [];
  const work = async (name: string, parts: number): Promise<void> => {
    for (let part = 0; part < parts; part++) {
      await nextTurn();
      order.push(name);
    }
  };
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < 6; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('|');
    }
  };
  await Promise.all([work('a', 3), work('b', 2), rounds()]);
  expect(order.join('').replace(/\|+$/, '')).toBe('a|b|a|b|a');
});
