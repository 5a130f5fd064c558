import { expect, test } from 'vitest';
import { podType } from '../../api/resource-types.ts';
import { createClient } from './client.ts';
import { ManualClock } from './clock.ts';
import { Informer } from './informer.ts';
import { settle } from './index.ts';
import type { Logger } from './log.ts';

/** An API server that lists nothing and whose watches say nothing until they are cut. */
function silentServer() {
  const watches: string[] = [];
  const client = createClient({
    userAgent: 'test',
    transport: ({ path, signal }) => {
      if (!path.includes('watch=true')) {
        const body = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items: [] }));
        return Promise.resolve({ status: 200, headers: {}, body });
      }
      watches.push(path);
      async function* nothing(): AsyncGenerator<Uint8Array> {
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
        yield Buffer.from('');
      }
      return Promise.resolve({ status: 200, headers: {}, body: nothing() });
    },
  });
  return { client, watches };
}

test('Informer opens a watch anew that has been silent for too long, and does not call that a failure', async () => {
  const { client, watches } = silentServer();
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (_: object, text: string) => warnings.push(text), error() {} };
  const abort = new AbortController();
  const informer = new Informer({ client, clock, type: podType, log: log as unknown as Logger, stalledMs: 90_000 });
  informer.start(abort.signal);
  await informer.whenSynced();
  await settle();
  expect(watches).toHaveLength(1);
  await clock.advance(89_000);
  await settle();
  expect(watches).toHaveLength(1);
  await clock.advance(1000);
  await settle();
  expect(watches).toHaveLength(2);
  expect(watches[1]).toContain('resourceVersion=7');
  expect(warnings).toEqual([]);
  abort.abort(new Error('done'));
});
