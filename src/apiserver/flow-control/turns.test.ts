import { expect, it } from 'vitest';
import type { PriorityLevelConfiguration } from '../../api/generated/flowcontrol-v1.ts';
import { ManualClock } from '../../machinery/runtime/index.ts';
import { dealHand } from './fair-queues.ts';
import { PriorityLevel } from './priority-level.ts';
import { COST_PER_TURN, type Entering, type FlowRefusal, ThreadTurns, WAIT_MS } from './turns.ts';

interface LevelOptions {
  readonly name: string;
  readonly shares?: number;
  readonly lendable?: number;
  readonly borrowing?: number;
  readonly queuing?: { queues: number; handSize: number; queueLengthLimit: number };
}

function levelOf({ name, shares = 10, lendable = 0, borrowing, queuing }: LevelOptions): PriorityLevelConfiguration {
  return {
    metadata: { name, uid: `uid-${name}` },
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: shares,
        lendablePercent: lendable,
        ...(borrowing !== undefined && { borrowingLimitPercent: borrowing }),
        limitResponse: queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing },
      },
    },
  };
}

const QUEUES = { queues: 128, handSize: 6, queueLengthLimit: 50 };

function start(...options: LevelOptions[]) {
  const clock = new ManualClock();
  const pending: (() => void)[] = [];
  const turns = new ThreadTurns({ clock, nextTurn: (callback) => void pending.push(callback) });
  const total = options.reduce((sum, { shares = 10 }) => sum + shares, 0);
  const levels = new Map<string, PriorityLevel<Entering>>();
  for (const one of options) {
    const level = new PriorityLevel<Entering>(one.name);
    level.configure(levelOf(one), total);
    levels.set(one.name, level);
  }
  turns.use(levels.values());
  const order: string[] = [];
  const refused: [string, FlowRefusal][] = [];
  const ask = (
    name: string,
    { level = options[0]?.name ?? '', flow = name, cost = 1, seats = 1, signal = new AbortController().signal } = {},
  ): Entering => {
    const request: Entering = {
      flow,
      cost,
      seats,
      level: levels.get(level) as PriorityLevel<Entering>,
      settle: (rejection) => (rejection === undefined ? order.push(name) : refused.push([name, rejection])),
    };
    if (turns.begin(request)) order.push(name);
    else turns.wait(request, signal);
    return request;
  };
  const turn = (): boolean => {
    const due = pending.splice(0);
    for (const callback of due) callback();
    return due.length > 0;
  };
  return { ask, clock, levels, order, refused, turn, turns };
}

it('begins at once without contention, and looks at the sockets between turns', () => {
  const { ask, order, turn, turns } = start({ name: 'a', queuing: QUEUES });
  for (let at = 0; at < 3 * COST_PER_TURN; at += 1) turns.leave(ask(`r${at}`, { flow: 'one' }));
  expect(order).toHaveLength(COST_PER_TURN);
  turn();
  expect(order).toHaveLength(2 * COST_PER_TURN);
  turn();
  expect(order).toHaveLength(3 * COST_PER_TURN);
  expect(turn()).toBe(true);
  expect(turn()).toBe(false);
});

it('lets a user with one read go before the 200 lists of another', () => {
  const { ask, order, turn } = start({ name: 'global-default', shares: 300, queuing: QUEUES });
  for (let at = 0; at < 200; at += 1) ask(`list${at}`, { flow: 'greedy', cost: 10 });
  expect(order.length).toBeLessThan(5);
  for (let round = 0; round < 10; round += 1) {
    ask(`get${round}`, { flow: 'modest' });
    turn();
    expect(order).toContain(`get${round}`);
  }
  const before = order.indexOf('get9');
  expect(order.slice(0, before).filter((name) => name.startsWith('list')).length).toBeLessThan(25);
  while (turn());
  expect(order).toHaveLength(210);
});

it('shares the thread among levels by their shares', () => {
  const { ask, order, turn } = start(
    { name: 'big', shares: 30, queuing: QUEUES },
    { name: 'small', shares: 10, queuing: QUEUES },
  );
  for (let at = 0; at < 200; at += 1) {
    ask(`big${at}`, { level: 'big', flow: 'x' });
    ask(`small${at}`, { level: 'small', flow: 'x' });
  }
  for (let at = 0; at < 8; at += 1) turn();
  const small = order.filter((name) => name.startsWith('small')).length;
  expect(small / order.length).toBeGreaterThan(0.2);
  expect(small / order.length).toBeLessThan(0.32);
});

it('keeps seats for each level, lends what is lendable and no more', () => {
  // 600 seats: 300 each, of which b lends half.
  const { ask, order, turn, turns, levels } = start(
    { name: 'a', queuing: QUEUES },
    { name: 'b', lendable: 50, queuing: QUEUES },
  );
  expect([levels.get('a')?.nominal, levels.get('b')?.kept]).toEqual([300, 150]);
  for (let at = 0; at < 600; at += 1) ask(`a${at}`, { level: 'a', flow: `user${at % 20}` });
  while (turn());
  expect(order).toHaveLength(450);
  const own = ask('b0', { level: 'b' });
  turn();
  expect(order).toContain('b0');
  turns.leave(own);
  expect(order).toHaveLength(451);
});

it('holds a level to its limit of borrowing', () => {
  const { ask, order, turn } = start(
    { name: 'a', borrowing: 10, queuing: QUEUES },
    { name: 'b', lendable: 100, queuing: QUEUES },
  );
  for (let at = 0; at < 500; at += 1) ask(`a${at}`, { level: 'a', flow: `user${at % 20}` });
  while (turn());
  expect(order).toHaveLength(330);
});

it('refuses when the queues of a flow are full, and no other flow for it', () => {
  const { ask, refused, order } = start({
    name: 'a',
    shares: 1,
    queuing: { queues: 64, handSize: 2, queueLengthLimit: 5 },
  });
  for (let at = 0; at < COST_PER_TURN + 11; at += 1) ask(`r${at}`, { flow: 'greedy' });
  expect(order).toHaveLength(COST_PER_TURN);
  expect(refused).toEqual([[`r${COST_PER_TURN + 10}`, 'queue-full']]);
  ask('other', { flow: 'modest' });
  expect(refused).toHaveLength(1);
});

it('refuses at once where nothing may wait, and only for want of seats', () => {
  const { ask, refused, order, turn } = start({ name: 'catch-all', shares: 1 }, { name: 'b', shares: 59 });
  for (let at = 0; at < 12; at += 1) ask(`r${at}`, { seats: 1, cost: 4 });
  // Ten seats are its own: four begin in this turn, six wait for the next ones.
  expect([order.length, refused.map(([, why]) => why)]).toEqual([4, ['concurrency-limit', 'concurrency-limit']]);
  while (turn());
  expect(order).toHaveLength(10);
});

it('gives up after the time to wait, and when nobody waits any more', async () => {
  const { ask, clock, refused, levels } = start({ name: 'a', shares: 1, borrowing: 0, queuing: QUEUES });
  (levels.get('a') as { nominal: number }).nominal = 1;
  (levels.get('a') as { most: number }).most = 1;
  ask('seated');
  ask('late');
  const gone = new AbortController();
  ask('gone', { signal: gone.signal });
  gone.abort();
  expect(refused).toEqual([['gone', 'cancelled']]);
  await clock.advance(WAIT_MS);
  expect(refused).toEqual([
    ['gone', 'cancelled'],
    ['late', 'time-out'],
  ]);
});

it('deals a flow always the same hand, and flows different ones', () => {
  const hands = Array.from({ length: 500 }, (_, at) => dealHand(`flow ${at}`, 128, 6));
  for (const hand of hands) expect(new Set(hand).size).toBe(6);
  expect(dealHand('flow 7', 128, 6)).toEqual(hands[7]);
  expect(new Set(hands.map((hand) => hand.join())).size).toBe(500);
  const uses = new Map<number, number>();
  for (const queue of hands.flat()) uses.set(queue, (uses.get(queue) ?? 0) + 1);
  expect(uses.size).toBe(128);
  expect(Math.max(...uses.values())).toBeLessThan(50);
});
