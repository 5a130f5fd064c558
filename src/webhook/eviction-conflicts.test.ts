import { expect, test } from 'vitest';
import type { DisruptionLedger } from '../api/quorate/types.ts';
import { DisruptionIndex, readBudget, readWorkload } from '../decisions/disruption/index.ts';
import { budgetObject, groupUnits, member, NOW } from '../decisions/disruption/fixtures.ts';
import { createClient, ManualClock, settle } from '../machinery/runtime/index.ts';
import { type EvictionWebhook, reviewEviction } from './eviction.ts';
import type { ReviewResponse } from './review.ts';

const namespace = 'default';

/** A budget over two gangs of two, of which one may go, as the ledger has it. */
const budgetWith = (allowed: number, disrupted: Record<string, number> = {}) =>
  budgetObject({
    spec: { minAvailable: 1 },
    status: [allowed, 2, 1, 2],
    conditions: [groupUnits],
    disrupted,
  });

const ledgerWith = (allowed: number, disrupted: Record<string, number> = {}, podsResourceVersion = '5') => ({
  metadata: { name: 'foo', namespace, resourceVersion: '1' },
  status: { ...budgetWith(allowed, disrupted).status, podsResourceVersion },
});

/** An API server that holds the ledger; `onWrite` says what becomes of the nth write: an HTTP code. */
function serverWith(ledger: () => object, onWrite: (nth: number) => number) {
  const seen = { writes: 0 };
  const client = createClient({
    userAgent: 'test',
    transport: async ({ body, method }) => {
      if (method === 'GET') return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(ledger())) };
      seen.writes += 1;
      const code = onWrite(seen.writes);
      const failure = { kind: 'Status', code, reason: code === 409 ? 'Conflict' : 'BadRequest', message: 'no' };
      return {
        status: code,
        headers: {},
        body: Buffer.from(code === 200 ? String(body) : JSON.stringify(failure)),
      };
    },
  });
  return { client, seen };
}

async function evict(
  { client }: Pick<EvictionWebhook, 'client'>,
  { name = 'g0p0', podsSeen = '5' } = {},
): Promise<{ response: ReviewResponse; index: DisruptionIndex }> {
  const clock = new ManualClock(NOW);
  const index = new DisruptionIndex();
  const podGroups = [{ name: 'g', replicas: 2, policy: { gang: { minCount: 2 } } }];
  index.setWorkload(namespace, 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
  for (const key of ['0', '1']) for (const at of [0, 1]) index.setPod(member(`g${key}p${at}`, { key }));
  index.setBudget(readBudget(budgetWith(1)));
  const webhook: EvictionWebhook = {
    client,
    clock,
    index,
    budget: () => budgetWith(1),
    isCordoned: () => false,
    podsResourceVersion: () => podsSeen,
  };
  const request = {
    uid: '1',
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    namespace,
    name,
    object: {},
  } as const;
  let settled = false;
  const done = reviewEviction(webhook, request, new AbortController().signal).finally(() => {
    settled = true;
  });
  // Told here so that a failure which comes while time is moved is not taken for one that nobody awaits.
  done.catch(() => {});
  while (!settled) {
    await settle();
    await clock.advance(1000);
  }
  return { response: await done, index };
}

const busy = { allowed: false, status: { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 10 } } };

test('a grant is in the ledger before it is given', async () => {
  const { client, seen } = serverWith(
    () => ledgerWith(1),
    () => 200,
  );
  const { index, response } = await evict({ client });
  expect([response.allowed, seen.writes]).toEqual([true, 1]);
  expect(index.ask(namespace, 'g1p0', NOW)?.views[0]?.budget.status.disruptionsAllowed).toBe(0);
});

test('T50 an eviction whose pods have changed since they were counted is told to come again', async () => {
  const { client, seen } = serverWith(
    () => ledgerWith(1, {}, '9'),
    () => 200,
  );
  const { response } = await evict({ client }, { podsSeen: '5' });
  expect(response).toMatchObject(busy);
  expect(seen.writes).toBe(0);
});

test('T51 an error that is no conflict is passed on, and nothing is granted', async () => {
  const { client, seen } = serverWith(
    () => ledgerWith(1),
    () => 400,
  );
  await expect(evict({ client })).rejects.toMatchObject({ code: 400 });
  expect(seen.writes).toBe(1);
});

test('T52 after a conflict that took the last slot the eviction is refused without another write', async () => {
  let ledger: DisruptionLedger = ledgerWith(1);
  const { client, seen } = serverWith(
    () => ledger,
    () => {
      ledger = ledgerWith(0, { g1p0: NOW });
      return 409;
    },
  );
  const { response } = await evict({ client });
  expect(response).toMatchObject({ allowed: false, status: { code: 429 } });
  expect(response.status?.details?.retryAfterSeconds).toBeUndefined();
  expect(seen.writes).toBe(1);
});

test('T53 after a conflict that left a slot the second try is granted', async () => {
  const { client, seen } = serverWith(
    () => ledgerWith(1),
    (nth) => (nth === 1 ? 409 : 200),
  );
  expect((await evict({ client })).response.allowed).toBe(true);
  expect(seen.writes).toBe(2);
});

test('T54 twenty conflicts end it, in a way that makes drains wait and not fail', async () => {
  const { client, seen } = serverWith(
    () => ledgerWith(1),
    () => 409,
  );
  const { response } = await evict({ client });
  expect(response).toMatchObject(busy);
  expect(response.status?.message).toContain('changed too often');
  expect(seen.writes).toBe(20);
});
