import { afterEach, expect, test } from 'vitest';
import type { Event } from '../../../api/generated/core-v1.ts';
import { eventType } from '../../../api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import { lastSaid, eventTtlController } from './controller.ts';

let plane: ControlPlane | undefined;
afterEach(() => plane?.stop());

test('lastSaid() takes the latest of the times an event carries', () => {
  const event = (over: Partial<Event>): Event => ({
    metadata: { name: 'e', creationTimestamp: '2026-01-01T00:00:00Z' },
    involvedObject: {},
    ...over,
  });
  expect(lastSaid(event({}))).toBe(Date.parse('2026-01-01T00:00:00Z'));
  expect(lastSaid(event({ lastTimestamp: '2026-01-01T00:05:00Z' }))).toBe(Date.parse('2026-01-01T00:05:00Z'));
  const series = { count: 2, lastObservedTime: '2026-01-01T00:09:00.000000Z' };
  expect(lastSaid(event({ series, lastTimestamp: '2026-01-01T00:05:00Z' }))).toBe(Date.parse('2026-01-01T00:09:00Z'));
});

test('events go an hour after they were last said', async () => {
  plane = await startControlPlane({ controllers: [eventTtlController] });
  const { client, clock } = plane;
  const say = (name: string) =>
    client.create(eventType, {
      metadata: { namespace: 'default', name },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
      reason: 'Because',
      type: 'Normal',
      lastTimestamp: formatTime(clock.now()),
    });
  const names = async () => (await client.list(eventType, {})).items.map(({ metadata }) => metadata.name);
  await say('first');
  await clock.advance(30 * 60_000);
  await say('second');
  await clock.advance(29 * 60_000);
  expect(await names()).toEqual(['first', 'second']);
  await clock.advance(2 * 60_000);
  expect(await names()).toEqual(['second']);
  const body = { lastTimestamp: formatTime(clock.now()), count: 2 };
  await client.patch(eventType, { namespace: 'default', name: 'second' }, { type: 'merge', body });
  await clock.advance(40 * 60_000);
  expect(await names()).toEqual(['second']);
  await clock.advance(25 * 60_000);
  expect(await names()).toEqual([]);
});
