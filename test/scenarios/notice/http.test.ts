/** Groups that are told by calls: what the other side does never harms more than its own notice. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { NoticeHttp, NoticeTerms } from '../../../src/api/quorate/disruption-policy.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { secretType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createGroupEvictionController } from '../../../src/controllers/quorate/group-eviction/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { namespace, standOf } from './fixture.ts';
import { addGroup, ask, evictionOf, evictPod } from './pods.ts';
import { type Called, Receiver } from './receiver.ts';

let plane: ControlPlane;
let receiver: Receiver | undefined;
afterEach(async () => {
  receiver?.close();
  receiver = undefined;
  await plane.stop();
});

type Reply = (response: ServerResponse, called: Called, attempt: number) => void;

async function begin(reply: Reply, over: Partial<NoticeHttp> = {}, terms: Partial<NoticeTerms> = {}): Promise<void> {
  receiver = await new Receiver(reply).listen();
  const controllers = [
    createDisruptionController(),
    createGroupEvictionController({ noticeAddresses: { allow: ['127.0.0.0/8'] } }),
  ];
  plane = await startControlPlane({ controllers });
  await addGroup(plane, { duration: '60s', channels: [{ type: 'HTTP', http: receiver.http(over) }], ...terms });
}

/** Lets the clock and the network go on until something is so. */
async function until(what: () => Promise<boolean>, seconds: number): Promise<void> {
  for (let at = 0; at < seconds * 10; at += 1) {
    if (await what()) return;
    await plane.clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
    await plane.settle();
    // Answers come over a real socket.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`Not so after ${seconds} s: ${standOf(await evictionOf(plane))}`);
}

const ended = async (): Promise<boolean> => !standOf(await evictionOf(plane)).endsWith('/-');
const elapsed = async (): Promise<number> => {
  const { startedAt = '' } = (await evictionOf(plane)).status?.notice ?? {};
  return plane.clock.now() - Date.parse(startedAt);
};

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

test('NT-11: a receiver that fails once and then acknowledges lets the group go', async () => {
  await begin((response, _called, attempt) => {
    if (attempt === 1) json(response, 500, {});
    else json(response, 200, { state: 'Acknowledged' });
  });
  await ask(plane, { reason: 'kernel' });
  await until(ended, 30);
  expect(standOf(await evictionOf(plane))).toBe('Done/True AllMembersEvicted');
  const { id, deadline } = (await evictionOf(plane)).status?.notice ?? {};
  const [first, second] = receiver?.calls ?? [];
  expect(first?.body).toMatchObject({
    apiVersion: 'notice.quorate.dev/v1',
    id,
    action: 'Notify',
    attempt: 1,
    group: { namespace, kind: 'PodGroup', name: 'a' },
    reason: 'kernel',
    deadline,
  });
  expect(second?.body.attempt).toBe(2);
  expect(first?.headers['idempotency-key']).toBe(`${id}/Notify`);
  expect(second?.headers['idempotency-key']).toBe(`${id}/Notify`);
});

test.each<[string, Reply, string]>([
  [
    'that redirects',
    (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'Undelivered',
  ],
  ['that answers with 1 MB', (response) => json(response, 200, { state: 'x'.repeat(1 << 20) }), 'Undelivered'],
  ['that refuses', (response) => json(response, 403, {}), 'Undelivered'],
  ['that hangs', () => undefined, 'Running'],
  ['that sends no JSON', (response) => void response.writeHead(200).end('<html>'), 'Running'],
])('NT-11: a receiver %s harms nothing: the group goes at the deadline', async (_name, reply, state) => {
  await begin(reply, { timeoutSeconds: 2 });
  await ask(plane);
  await until(async () => (await elapsed()) > 20_000, 30);
  expect(standOf(await evictionOf(plane))).toBe(`${state}/-`);
  const calls = receiver?.calls.length ?? 0;
  if (state === 'Undelivered') expect(calls).toBe(1);
  else expect(calls).toBeGreaterThan(2);
  expect(calls).toBeLessThan(8);
  await until(ended, 60);
  expect(standOf(await evictionOf(plane))).toBe('TimedOut/True AllMembersEvicted');
  expect(await elapsed()).toBeGreaterThanOrEqual(60_000);
  expect(await elapsed()).toBeLessThanOrEqual(62_000);
});

test('NT-11: an address that clouds keep for themselves is never called', async () => {
  await begin((response) => json(response, 200, { state: 'Acknowledged' }), { host: '169.254.169.254' });
  await ask(plane);
  await until(async () => (await evictionOf(plane)).status?.notice?.state === 'Undelivered', 10);
  expect(receiver?.calls).toEqual([]);
});

const withSecret = {
  httpHeaders: [{ name: 'Authorization', valueFrom: { secretKeyRef: { name: 'token', key: 'value' } } }],
};

test('NT-12: without the Secret nobody is called; with Proceed the group goes at the deadline', async () => {
  await begin((response) => json(response, 204, {}), withSecret);
  await ask(plane);
  await until(ended, 70);
  expect(standOf(await evictionOf(plane))).toBe('TimedOut/True AllMembersEvicted');
  expect(receiver?.calls).toEqual([]);
});

test('NT-12: with Refuse it stays, and evictions are told why', async () => {
  await begin((response) => json(response, 204, {}), withSecret, { onUndelivered: 'Refuse' });
  await ask(plane);
  await until(ended, 10);
  expect(standOf(await evictionOf(plane))).toBe('Undelivered/False NoticeUndelivered');
  expect(await evictPod(plane, 'a0')).toMatchObject({ code: 429, causes: ['NoticeUndelivered'] });
  const data = { value: Buffer.from('Bearer t').toString('base64') };
  await plane.client.create(secretType, { metadata: { name: 'token', namespace }, data });
  await ask(plane, {}, 'again');
  await until(async () => (receiver?.calls.length ?? 0) > 0, 10);
  expect(receiver?.calls[0]?.headers.authorization).toBe('Bearer t');
});

test('NT-13: one that works and then names one of two members is polled, by the same key', async () => {
  await begin(
    (response, _called, attempt) => {
      if (attempt === 1) response.writeHead(202).end();
      else if (attempt === 2) json(response, 200, { members: [{ name: 'a0', state: 'Acknowledged' }] });
      else json(response, 200, { state: 'Working', message: 'half' });
    },
    { pollSeconds: 2 },
  );
  await ask(plane);
  await until(async () => (receiver?.calls.length ?? 0) >= 4, 20);
  const members = (await evictionOf(plane)).status?.notice?.members ?? [];
  expect(members.map(({ name, state, via }) => [name, state, via])).toEqual([
    ['a0', 'Acknowledged', 'HTTP'],
    ['a1', 'Told', 'HTTP'],
  ]);
  expect(new Set(receiver?.calls.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('a notice that is withdrawn is taken back from those who were called', async () => {
  await begin((response) => json(response, 202, {}));
  await ask(plane);
  await until(async () => (receiver?.calls.length ?? 0) > 0, 10);
  const body = { spec: { intent: 'Withdrawn' } };
  await plane.client.patch(groupEvictionType, { namespace, name: 'ask' }, { type: 'merge', body });
  await until(async () => receiver?.calls.at(-1)?.body.action === 'Withdraw', 10);
  expect(standOf(await evictionOf(plane))).toBe('Withdrawn/False Withdrawn');
});
