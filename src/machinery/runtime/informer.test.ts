import { expect, test } from 'vitest';
import { podType } from '../../api/resource-types.ts';
import { createClient } from './client.ts';
import { ManualClock } from './clock.ts';
import { Informer } from './informer.ts';
import { settle } from './index.ts';
import type { Logger } from './log.ts';

/** An API server whose watches say nothing until they are cut; it lists nothing unless it is told what. */
function silentServer(list: (path: string) => object = () => ({ metadata: { resourceVersion: '7' }, items: [] })) {
  const watches: string[] = [];
  const client = createClient({
    userAgent: 'test',
    pageSize: 1,
    transport: ({ path, signal }) => {
      if (!path.includes('watch=true')) {
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(list(path))) });
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

function listeningLog() {
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (_: object, text: string) => warnings.push(text), error() {} };
  return { warnings, log: log as unknown as Logger };
}

test('Informer opens a watch anew that has been silent for too long, and does not call that a failure', async () => {
  const { client, watches } = silentServer();
  const clock = new ManualClock();
  const { log, warnings } = listeningLog();
  const abort = new AbortController();
  const informer = new Informer({ client, clock, type: podType, log, stalledMs: 90_000 });
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

test('Informer drops what an unfinished first list had and the next one has not', async () => {
  const pod = (name: string) => ({ metadata: { name, namespace: 'a', resourceVersion: '1' } });
  const pages = [
    { metadata: { resourceVersion: '7', continue: 'more' }, items: [pod('gone')] },
    undefined,
    { metadata: { resourceVersion: '8', continue: 'more' }, items: [pod('x')] },
    { metadata: { resourceVersion: '8' }, items: [pod('y')] },
  ];
  const { client } = silentServer((path) => {
    expect(path).toContain('limit=1');
    const page = pages.shift();
    if (page === undefined) throw new Error('the server is away');
    return page;
  });
  const clock = new ManualClock();
  const { log, warnings } = listeningLog();
  const abort = new AbortController();
  const informer = new Informer({ client, clock, type: podType, log });
  const seen: string[] = [];
  informer.addHandler({
    added: ({ metadata }) => seen.push(`+${metadata.name}`),
    deleted: ({ metadata }) => seen.push(`-${metadata.name}`),
  });
  informer.start(abort.signal);
  await settle();
  expect(warnings).toHaveLength(1);
  expect(informer.synced).toBe(false);
  await clock.advance(1000);
  await informer.whenSynced();
  expect(seen).toEqual(['+gone', '+x', '+y', '-gone']);
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['x', 'y']);
  abort.abort(new Error('done'));
});

test('Informer tells of its last change, which bookmarks are not', async () => {
  let say: (event: object) => void = () => {};
  async function* events(): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from(`${JSON.stringify(await new Promise<object>((resolve) => (say = resolve)))}\n`);
  }
  const client = createClient({
    userAgent: 'test',
    transport: ({ path }) => {
      const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items: [] }));
      return Promise.resolve({ status: 200, headers: {}, body: path.includes('watch=true') ? events() : list });
    },
  });
  const abort = new AbortController();
  const informer = new Informer({ client, clock: new ManualClock(), type: podType, log: listeningLog().log });
  informer.start(abort.signal);
  await informer.whenSynced();
  await settle();
  const versions = (): string[] => [informer.resourceVersion, informer.changedAt];
  expect(versions()).toEqual(['7', '7']);
  say({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } });
  await settle();
  expect(versions()).toEqual(['9', '7']);
  say({ type: 'ADDED', object: { metadata: { name: 'x', namespace: 'a', resourceVersion: '12' } } });
  await settle();
  expect(versions()).toEqual(['12', '12']);
  abort.abort(new Error('done'));
});
