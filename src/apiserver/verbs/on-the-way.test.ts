/** Writes that are on their way to the disk while others ask: nobody is told of what cannot be read yet. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configMapType } from '../../testkit/types.ts';
import { type ControlPlane, configMap, startControlPlane } from '../../testkit/index.ts';
import { RevisionedStore } from '../../storage/revisioned-store.ts';
import type { ApiError } from '../../machinery/runtime/index.ts';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
let plane: ControlPlane;
/** While set, flushes wait for it. */
let disk: Promise<void> | undefined;
let release: () => void;

beforeEach(async () => {
  disk = undefined;
  const journal = { write: () => disk ?? Promise.resolve(), check: async () => {}, close: async () => {} };
  plane = await startControlPlane({ store: new RevisionedStore(journal, { entries: [], revision: 0 }) });
});
afterEach(async () => {
  release?.();
  await plane.stop();
});

function hold(): void {
  disk = new Promise((resolve) => {
    release = () => {
      disk = undefined;
      resolve();
    };
  });
}

const key = { namespace: 'default', name: 'a' };
const codeOf = (answer: Promise<unknown>): Promise<number> =>
  answer.then(
    () => 200,
    (error: unknown) => (error as ApiError).status.code ?? 0,
  );
/** Whether it is answered before anything reaches the disk. */
async function isEarly(answer: Promise<unknown>): Promise<boolean> {
  let early = false;
  void answer.then(() => (early = true));
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return early;
}

test('9: a conflict with a write on its way is answered when that write can be read: who reads again does not conflict again', async () => {
  const { client } = plane;
  const old = await client.create(configMapType, configMap({ name: 'a' }));
  hold();
  const first = client.update(configMapType, { ...old, data: { by: 'first' } });
  const second = codeOf(client.update(configMapType, { ...old, data: { by: 'second' } }));
  expect(await isEarly(second)).toBe(false);
  release();
  expect(await second).toBe(409);
  const seen = await client.get(configMapType, key);
  expect(seen.data).toEqual({ by: 'first' });
  await client.update(configMapType, { ...seen, data: { by: 'second' } });
  await first;
});

test('9: that something is not there is answered when nobody can read it any more', async () => {
  const { client } = plane;
  await client.create(configMapType, configMap({ name: 'a' }));
  hold();
  const gone = client.delete(configMapType, key);
  const again = codeOf(client.delete(configMapType, key));
  expect(await isEarly(again)).toBe(false);
  release();
  expect(await again).toBe(404);
  expect(await codeOf(client.get(configMapType, key))).toBe(404);
  await gone;
});

test('13: a collection is deleted with what is on its way into it, and with what others are deleting', async () => {
  const { client } = plane;
  await client.create(configMapType, configMap({ name: 'a' }));
  hold();
  const others = [client.delete(configMapType, key), client.create(configMapType, configMap({ name: 'b' }))];
  const all = client.request('DELETE', COLLECTION);
  expect(await isEarly(all)).toBe(false);
  release();
  await all;
  expect((await client.list(configMapType, { namespace: 'default' })).items).toEqual([]);
  await Promise.all(others);
});

test('9: a refusal that stands on a write that is lost is no refusal: the failure is told', async () => {
  const { client } = plane;
  const old = await client.create(configMapType, configMap({ name: 'a' }));
  let fail = (_error: Error): void => {};
  disk = new Promise((_resolve, reject) => {
    fail = reject;
  });
  const first = codeOf(client.update(configMapType, { ...old, data: { by: 'first' } }));
  const second = codeOf(client.update(configMapType, { ...old, data: { by: 'second' } }));
  expect(await isEarly(second)).toBe(false);
  disk = undefined;
  fail(new Error('no space left'));
  expect(await Promise.all([first, second])).toEqual([500, 500]);
  expect((await client.get(configMapType, key)).data).toBeUndefined();
});
