import { expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import { GARBAGE_COLLECTOR } from '../decisions/unavailability/index.ts';
import { createClient } from '../machinery/runtime/index.ts';
import { isLeftover } from './leftovers.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true };
const pod: Pod = { metadata: { name: 'web-1', namespace: 'shop', ownerReferences: [owner] } };
const apps = {
  resources: [
    { kind: 'Scale', name: 'replicasets/scale' },
    { kind: 'ReplicaSet', name: 'replicasets', namespaced: true },
  ],
};

/** An API server that answers what it is given by path, and 404 or the given code for all else. */
function serverWith(answers: Record<string, object>, otherwise = 404) {
  const asked: string[] = [];
  const client = createClient({
    userAgent: 'test',
    transport: ({ path }) => {
      asked.push(path);
      const body = Buffer.from(JSON.stringify(answers[path] ?? { kind: 'Status', code: otherwise }));
      return Promise.resolve({ status: path in answers ? 200 : otherwise, headers: {}, body: [body] as never });
    },
  });
  return { client, asked };
}

const namespace = { '/api/v1/namespaces/shop': { metadata: { name: 'shop' } } };
const set = '/apis/apps/v1/namespaces/shop/replicasets/web';
const collected = { namespace: 'shop', operation: 'DELETE', username: GARBAGE_COLLECTOR, pod } as const;

test('18.5: isLeftover() reads the owner back: gone, going, replaced or there', async () => {
  const ask = (answers: Record<string, object>) =>
    isLeftover(serverWith({ ...namespace, '/apis/apps/v1': apps, ...answers }).client, collected);
  expect(await ask({})).toBe(true);
  expect(await ask({ [set]: { metadata: { uid: 'u1', deletionTimestamp: '2026-01-01T00:00:00Z' } } })).toBe(true);
  expect(await ask({ [set]: { metadata: { uid: 'u2' } } })).toBe(true);
  expect(await ask({ [set]: { metadata: { uid: 'u1' } } })).toBe(false);
});

test('18.5: isLeftover() says no of owners it may not read or whose kind is not served', async () => {
  expect(await isLeftover(serverWith({ ...namespace, '/apis/apps/v1': apps }, 403).client, collected)).toBe(false);
  expect(await isLeftover(serverWith({ ...namespace, '/apis/apps/v1': { resources: [] } }).client, collected)).toBe(
    false,
  );
});

test('18.5: isLeftover() reads no owner for anybody else, and says yes of a namespace that goes', async () => {
  const there = serverWith(namespace);
  expect(await isLeftover(there.client, { ...collected, username: 'alice' })).toBe(false);
  expect(there.asked).toEqual(['/api/v1/namespaces/shop']);
  const going = {
    '/api/v1/namespaces/shop': { metadata: { name: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' } },
  };
  expect(await isLeftover(serverWith(going).client, { ...collected, operation: 'EVICT', username: 'alice' })).toBe(
    true,
  );
});
