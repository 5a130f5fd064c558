/** A write is refused because of what an earlier one did: nobody is told so before that one is on the disk. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RevisionedStore } from '../../src/storage/revisioned-store.ts';
import type { Store } from '../../src/storage/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = { 'content-type': 'application/merge-patch+json' };

/** The next write reaches the disk when it is let through, or not at all. */
let held: { through: () => void; fails: () => void } | undefined;
let holds = false;
let store: Store;
let plane: ControlPlane;

beforeEach(async () => {
  holds = false;
  const write = () =>
    holds
      ? new Promise<void>((resolve, reject) => {
          held = { through: resolve, fails: () => reject(new Error('the disk is full')) };
        })
      : Promise.resolve();
  const journal = { write, check: () => Promise.resolve(), close: () => Promise.resolve() };
  store = new RevisionedStore(journal, { entries: [], revision: 0 });
  plane = await startControlPlane({ store });
  await send('POST', MAPS, { metadata: { name: 'old' }, data: { a: '1' } });
  holds = true;
});
afterEach(async () => {
  holds = false;
  await plane.stop();
  await store.close();
});

const send = (method: string, path: string, body: object, headers?: Record<string, string>): Promise<unknown> =>
  plane.client.request(method, path, body, headers);

/** What the second write is told, and whether it was told before the first was let through. */
async function told(first: Promise<unknown>, second: Promise<unknown>, fate: 'through' | 'fails') {
  const order: string[] = [];
  const outcome = second.then(
    () => 'done',
    (error: { code?: number }) => error.code,
  );
  const note = outcome.then((code) => order.push(`second ${code}`));
  await expect.poll(() => held).toBeDefined();
  // Whatever needs no disk is over within some turns.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  order.push('disk');
  held?.[fate]();
  held = undefined;
  holds = false;
  await Promise.allSettled([first, note]);
  return order;
}

const remove = () => send('DELETE', `${MAPS}/old`, {});
const change = () => send('PATCH', `${MAPS}/old`, { data: { a: '2' } }, MERGE);
const stale = (revision: string) => ({ metadata: { resourceVersion: revision }, data: { a: '3' } });
const refused = [
  { what: 'a patch of what is being deleted', first: remove, second: change, code: 404 },
  { what: 'a second delete', first: remove, second: remove, code: 404 },
  {
    what: 'a patch of an older state',
    first: change,
    second: () =>
      send('PATCH', `${MAPS}/old`, stale(String(store.get('/registry/core/configmaps/default/old')?.revision)), MERGE),
    code: 409,
  },
  {
    what: 'another object of the same name',
    first: () => send('POST', MAPS, { metadata: { name: 'new' } }),
    second: () => send('POST', MAPS, { metadata: { name: 'new' } }),
    code: 409,
  },
];

for (const { code, first, second, what } of refused) {
  test(`${what} is refused when the disk has the reason`, async () => {
    expect(await told(first(), second(), 'through')).toEqual(['disk', `second ${code}`]);
  });

  test(`${what} is not refused for what the disk never had`, async () => {
    expect(await told(first(), second(), 'fails')).toEqual(['disk', 'second 500']);
  });
}
