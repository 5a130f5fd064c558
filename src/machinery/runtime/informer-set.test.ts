import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ManualClock } from './clock.ts';
import { deferred } from './deferred.ts';
import { InformerSet } from './informer-set.ts';
import { silentLogger } from './log.ts';

test('18.6: caches are not ready while it is being found out what else has to be followed', async () => {
  const client = createClient({ transport: () => Promise.reject(new Error('nobody is asked')), userAgent: 'test' });
  const informers = new InformerSet({
    client,
    clock: new ManualClock(),
    log: silentLogger,
    signal: new AbortController().signal,
  });
  const tried = deferred();
  informers.finding('kinds of groups', tried.promise);
  informers.finding('kinds of groups', tried.promise.then());
  expect(informers.problems()).toEqual(['kinds of groups not found yet']);
  let synced = false;
  const waited = informers.whenSynced().then(() => (synced = true));
  await Promise.resolve();
  expect(synced).toBe(false);
  tried.resolve();
  await waited;
  expect(informers.problems()).toEqual([]);
});
