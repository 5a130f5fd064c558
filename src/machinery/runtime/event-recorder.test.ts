import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ManualClock, settle } from './clock.ts';
import { createEventRecorder } from './event-recorder.ts';
import { silentLogger } from './log.ts';

/** A recorder whose writes are listed as `METHOD reason-or-count`. */
function recorder() {
  const writes: string[] = [];
  const client = createClient({
    userAgent: 'test',
    transport: ({ body, method }) => {
      const { count, reason } = JSON.parse(String(body)) as { count: number; reason?: string };
      writes.push(`${method} ${reason ?? count}`);
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{}') });
    },
  });
  const clock = new ManualClock();
  const options = { client, clock, log: silentLogger, random: () => 0.5, component: 'test' };
  return { writes, clock, events: createEventRecorder(options) };
}

const object = { kind: 'ReplicaSet', apiVersion: 'apps/v1', metadata: { name: 'web', namespace: 'default', uid: 'u' } };

test('the same event again raises the count of the first', async () => {
  const { events, writes } = recorder();
  for (let round = 0; round < 3; round += 1) events.record(object, 'Normal', 'Same', 'message');
  await settle();
  expect(writes).toEqual(['POST Same', 'PATCH 2', 'PATCH 3']);
});

test('of one reason about one object only so many are written, and other reasons still are', async () => {
  const { clock, events, writes } = recorder();
  for (let round = 0; round < 100; round += 1) events.record(object, 'Normal', 'Created', `pod ${round}`);
  events.record(object, 'Warning', 'Failed', 'message');
  await settle();
  expect(writes.filter((write) => write === 'POST Created')).toHaveLength(25);
  expect(writes).toContain('POST Failed');
  await clock.advance(10 * 60_000);
  for (let round = 0; round < 5; round += 1) events.record(object, 'Normal', 'Created', `later ${round}`);
  await settle();
  expect(writes.filter((write) => write === 'POST Created')).toHaveLength(27);
});
