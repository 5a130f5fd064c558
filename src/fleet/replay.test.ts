import { expect, test } from 'vitest';
import { eventsUntil, momentsOf, pointAt, readReplay, type Replay } from './replay.ts';

const played: Replay = {
  seconds: 60,
  end: 'Finished',
  budgets: [
    {
      id: 'ml/train',
      unit: 'groups',
      points: [
        { seconds: 0, available: 2, desired: 1 },
        { seconds: 10, available: 1, desired: 1 },
        { seconds: 50, available: 2, desired: 1 },
      ],
    },
  ],
  disruptedOnce: ['ml/PodGroup/gang-0'],
  disruptedAgain: [],
  events: [
    { seconds: 0, text: 'node a cordoned' },
    { seconds: 10, text: 'pod ml/gang-0-0 evicted' },
  ],
};

test('22.1: a replay says at each moment where budgets stand and what has happened', () => {
  const replay = readReplay(JSON.stringify(played));
  expect(momentsOf(replay)).toEqual([0, 10, 50, 60]);
  const [budget] = replay.budgets;
  expect([0, 9, 10, 49, 60].map((at) => budget && pointAt(budget, at)?.available)).toEqual([2, 2, 1, 1, 2]);
  expect(eventsUntil(replay, 9, 5).map(({ text }) => text)).toEqual(['node a cordoned']);
  expect(eventsUntil(replay, 10, 1).map(({ text }) => text)).toEqual(['pod ml/gang-0-0 evicted']);
});

test.each([
  ['no json', 'This is no JSON'],
  ['[]', 'The file is no object'],
  ['{"kind":"Snapshot"}', 'This is no result of quorate simulate -o json'],
  [JSON.stringify({ ...played, budgets: [{ id: 'a', points: [{}] }] }), 'budgets[0].points[0] needs seconds'],
  [JSON.stringify({ ...played, events: [{ seconds: 1 }] }), 'events[0] has no seconds or text'],
])('22.1: a file that is no replay is refused with the place: %s', (text, because) => {
  expect(() => readReplay(text)).toThrow(because);
});
