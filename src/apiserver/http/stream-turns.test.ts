import { expect, test } from 'vitest';
import { StreamTurns } from './stream-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('17.10: StreamTurns serves what clients open at once, and spreads a flood over turns, in order', async () => {
  const turns = new StreamTurns();
  const served: number[] = [];
  for (let at = 0; at < 200; at += 1) turns.serve(() => served.push(at));
  expect(served).toHaveLength(64);
  await turn();
  expect(served).toHaveLength(128);
  turns.serve(() => served.push(200));
  expect(served).toHaveLength(128);
  while (served.length < 201) await turn();
  expect(served).toEqual(Array.from({ length: 201 }, (_, at) => at));
  await turn();
  turns.serve(() => served.push(201));
  expect(served.at(-1)).toBe(201);
});
