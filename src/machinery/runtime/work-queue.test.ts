import { expect, test } from 'vitest';
import { ManualClock, settle } from './clock.ts';
import { Metrics } from './metrics.ts';
import { WorkQueue } from './work-queue.ts';

test('WorkQueue hands a key out once however often it was added', async () => {
  const queue = new WorkQueue({ name: 'q', clock: new ManualClock() });
  queue.add('a');
  queue.add('a');
  expect(await queue.take()).toBe('a');
  expect(queue.length).toBe(0);
});

test('WorkQueue hands a key out again, after done, when it was added meanwhile', async () => {
  const queue = new WorkQueue({ name: 'q', clock: new ManualClock() });
  queue.add('a');
  await queue.take();
  queue.add('a');
  expect(queue.length).toBe(0);
  queue.done('a');
  expect(await queue.take()).toBe('a');
});

test('WorkQueue keeps the earliest deadline of a delayed key', async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ name: 'q', clock });
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 500);
  await clock.advance(50);
  expect(queue.length).toBe(1);
  await queue.take();
  queue.done('a');
  await clock.advance(1000);
  expect(queue.length).toBe(0);
});

test('WorkQueue backs off twice as long after each failure, and from the start after forget', async () => {
  const clock = new ManualClock();
  const queue = new WorkQueue({ name: 'q', clock, baseDelayMs: 10 });
  const delays: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    if (round === 3) queue.forget('a');
    queue.addRateLimited('a');
    delays.push((clock.nextDue as number) - clock.now());
    await clock.advance(1000);
    await queue.take();
    queue.done('a');
  }
  expect(delays).toEqual([10, 20, 40, 10]);
});

test('WorkQueue wakes a waiting taker and answers undefined once closed', async () => {
  const queue = new WorkQueue({ name: 'q', clock: new ManualClock() });
  const waiting = queue.take();
  queue.add('a');
  expect(await waiting).toBe('a');
  const last = queue.take();
  queue.close();
  await settle();
  expect(await last).toBeUndefined();
});

test('18.15: WorkQueue has a series of its retries from the start', async () => {
  const metrics = new Metrics();
  const queue = new WorkQueue({ name: 'q', clock: new ManualClock(), metrics });
  expect(await metrics.registry.metrics()).toContain('workqueue_retries_total{name="q"} 0');
  queue.addRateLimited('a');
  expect(await metrics.registry.metrics()).toContain('workqueue_retries_total{name="q"} 1');
});

test('a queue says how long keys wait, how long they are worked on, and for how long those that are still are', async () => {
  const clock = new ManualClock();
  const metrics = new Metrics();
  const queue = new WorkQueue({ name: 'q', clock, metrics });
  queue.add('a');
  await clock.advance(2000);
  await queue.take();
  await clock.advance(5000);
  const during = await metrics.registry.metrics();
  expect(during).toContain('workqueue_queue_duration_seconds_sum{name="q"} 2');
  expect(during).toContain('workqueue_work_duration_seconds_count{name="q"} 0');
  expect(during).toContain('workqueue_unfinished_work_seconds{name="q"} 5');
  expect(during).toContain('workqueue_longest_running_processor_seconds{name="q"} 5');
  queue.add('a');
  queue.done('a');
  expect(await queue.take()).toBe('a');
  queue.done('a');
  const after = await metrics.registry.metrics();
  expect(after).toContain('workqueue_work_duration_seconds_sum{name="q"} 5');
  expect(after).toContain('workqueue_work_duration_seconds_count{name="q"} 2');
  expect(after).toContain('workqueue_longest_running_processor_seconds{name="q"} 0');
});
