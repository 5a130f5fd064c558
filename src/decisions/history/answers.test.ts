import { expect, test } from 'vitest';
import { type GivenAnswer, AnswerQueue } from './answers.ts';

const answer = (at: number): GivenAnswer => ({ at, kind: 'Eviction', namespace: 'ml', who: 'ada', allowed: true });

test('8.2: of more answers than anybody takes the oldest are forgotten, and counted', () => {
  const queue = new AnswerQueue(10);
  for (let at = 0; at < 25; at += 1) queue.tell(answer(at));
  const taken = queue.take().map(({ at }) => at);
  expect(taken).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
  expect(queue.forgotten).toBe(15);
  expect(queue.take()).toEqual([]);
});
