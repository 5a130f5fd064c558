import { expect, test } from 'vitest';
import { ManualClock } from '../machinery/runtime/index.ts';
import type { Entity } from './entity.ts';
import { PendingQueue } from './pending-queue.ts';

function started() {
  const clock = new ManualClock();
  const queue = new PendingQueue({ clock, onActive: () => {} });
  queue.start(new AbortController().signal);
  const add = (key: string, priority = 0, since = clock.now()) => queue.add(key, { priority, since });
  return { clock, queue, add };
}

const fits = new Set(['NodeResourcesFit'] as const);

test('PendingQueue hands out the important first, then the oldest', () => {
  const { add, queue } = started();
  add('old', 0, 1);
  add('new', 0, 2);
  add('important', 5, 3);
  expect([queue.take(), queue.take(), queue.take()].map((entity) => entity?.key)).toEqual(['important', 'old', 'new']);
  expect(queue.take()).toBeUndefined();
});

test('PendingQueue wakes a parked pod for an event that could help, after its rest', async () => {
  const { add, clock, queue } = started();
  add('p');
  queue.park(queue.take() as Entity, fits);
  queue.notify('NodeLabels');
  await clock.advance(60_000);
  expect(queue.take()).toBeUndefined();
  queue.notify('PodGone');
  expect(queue.take()?.key).toBe('p');
});

test('PendingQueue makes a pod rest before the event wakes it', async () => {
  const { add, clock, queue } = started();
  add('p');
  queue.park(queue.take() as Entity, fits);
  queue.notify('PodGone');
  expect(queue.take()).toBeUndefined();
  await clock.advance(1000);
  expect(queue.take()?.key).toBe('p');
});

test('G-19 a group of nine that goes on failing is tried after 1, 2, 4, 8, 16, 30 and 30 seconds', async () => {
  const { add, clock, queue } = started();
  add('g');
  const gaps: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    queue.retry(queue.take() as Entity, 9);
    const before = clock.now();
    while (queue.counts().active === 0) await clock.advance(1000);
    gaps.push((clock.now() - before) / 1000);
  }
  expect(gaps).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

test('PendingQueue looks again at what was held or parked for five minutes', async () => {
  const { add, clock, queue } = started();
  add('p');
  queue.hold(queue.take() as Entity);
  await clock.advance(4 * 60_000);
  expect(queue.take()).toBeUndefined();
  await clock.advance(90_000);
  expect(queue.take()?.key).toBe('p');
});

test('PendingQueue forgets what was removed', () => {
  const { add, queue } = started();
  add('p');
  queue.remove('p');
  expect(queue.take()).toBeUndefined();
});
