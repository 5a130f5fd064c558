/** A short history on a server that is killed; `npm run test:linearizable -- --kills N` plays many on the built one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { play } from './play.ts';
import { type MortalServer, mortalServer } from './server.ts';

const SEED = 23;

let server: MortalServer;
beforeAll(async () => {
  server = await mortalServer(true);
  await server.start();
});
afterAll(async () => {
  await server.kill();
  server.remove();
});

test(`clients of a server that is killed at work find every write, read, list and watch explained (seed ${SEED})`, async () => {
  const { history, violations } = await play(server, { seed: SEED, kills: 1, namespace: 'history' });
  expect(violations).toEqual([]);
  expect([history.lives.length, history.operations.length > 20, history.streams.length > 6]).toEqual([2, true, true]);
});
