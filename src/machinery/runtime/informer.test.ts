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

type Mode = 'fine' | 'away' | 'unserved';

/** A server whose lists and watches go as the mode says; watches say nothing until they are cut. */
function changingServer({ optional = false, items = [] as object[], mode = 'fine' as Mode } = {}) {
  const state = { mode, lists: 0, watches: 0, cut: () => {} };
  const client = createClient({
    userAgent: 'test',
    transport: ({ path, signal }) => {
      const watch = path.includes('watch=true');
      if (watch) state.watches += 1;
      else state.lists += 1;
      if (state.mode === 'away') return Promise.reject(new Error('no answer'));
      if (state.mode === 'unserved') {
        const body = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: 'no such resource' };
        return Promise.resolve({ status: 404, headers: {}, body: Buffer.from(JSON.stringify(body)) });
      }
      const list = { metadata: { resourceVersion: '7' }, items };
      if (!watch) return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(list)) });
      async function* nothing(): AsyncGenerator<Uint8Array> {
        await new Promise((_, reject) => {
          state.cut = () => reject(new Error('cut'));
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
        yield Buffer.from('');
      }
      return Promise.resolve({ status: 200, headers: {}, body: nothing() });
    },
  });
  const clock = new ManualClock();
  const { log, warnings } = listeningLog();
  const abort = new AbortController();
  const informer = new Informer({ client, clock, type: podType, log, stalledMs: 90_000, optional });
  informer.start(abort.signal);
  return { state, clock, informer, warnings, stop: () => abort.abort(new Error('done')) };
}

test('18.6: HL-01 a copy whose watch is silent and whose server does not answer is not live after 75 s', async () => {
  const { clock, informer, state, stop } = changingServer();
  expect(informer.problem).toBe('not filled yet');
  await informer.whenSynced();
  await settle();
  expect(informer.live).toBe(true);
  state.mode = 'away';
  await clock.advance(59_000);
  expect(informer.live).toBe(true);
  await clock.advance(2000);
  expect(informer.problem).toBe('not heard of for 61 s: no answer');
  state.mode = 'fine';
  await clock.advance(40_000);
  expect(informer.live).toBe(true);
  stop();
});

test('18.6: a copy whose watch is silent stays live while the server answers, and the watch is opened anew', async () => {
  const { clock, informer, state, stop } = changingServer();
  await informer.whenSynced();
  for (let minute = 0; minute < 10; minute += 1) {
    await clock.advance(60_000);
    expect(informer.live).toBe(true);
  }
  expect(state.watches).toBeGreaterThan(5);
  stop();
});

test('18.6: a copy of what is no longer served is not live, is tried on, is told of once a minute, and is listed anew', async () => {
  const { clock, informer, state, stop, warnings } = changingServer();
  await informer.whenSynced();
  await settle();
  state.mode = 'unserved';
  state.cut();
  await settle();
  await clock.advance(1000);
  expect(informer.problem).toBe('not served by the API server');
  const listed = state.lists;
  await clock.advance(120_000);
  expect(state.lists - listed).toBeGreaterThan(20);
  expect(state.lists - listed).toBeLessThan(125);
  expect(warnings.filter((text) => text.includes('not served')).length).toBeLessThanOrEqual(4);
  state.mode = 'fine';
  await clock.advance(5000);
  expect(informer.live).toBe(true);
  stop();
});

test('18.6: a kind whose software was removed is empty and live a minute later, and is followed when it is back', async () => {
  const items = [{ metadata: { name: 'x', namespace: 'a', resourceVersion: '1' } }];
  const { clock, informer, state, stop } = changingServer({ optional: true, items });
  const seen: string[] = [];
  informer.addHandler({ added: () => seen.push('added'), deleted: () => seen.push('deleted') });
  await informer.whenSynced();
  await settle();
  state.mode = 'unserved';
  state.cut();
  await settle();
  await clock.advance(30_000);
  expect(informer.live).toBe(false);
  expect(informer.size).toBe(1);
  await clock.advance(40_000);
  expect([informer.live, informer.size]).toEqual([true, 0]);
  state.mode = 'fine';
  await clock.advance(6000);
  expect([informer.live, informer.size]).toEqual([true, 1]);
  expect(seen).toEqual(['added', 'deleted', 'added']);
  stop();
});

test('23.3: a kind of removable software that is not served from the start holds nobody up for more than a minute', async () => {
  const { clock, informer, stop, warnings } = changingServer({ optional: true, mode: 'unserved' });
  let filled = false;
  void informer.whenSynced().then(() => (filled = true));
  await clock.advance(30_000);
  expect(filled).toBe(false);
  await clock.advance(40_000);
  expect([filled, informer.live, informer.size]).toEqual([true, true, 0]);
  const told = warnings.length;
  await clock.advance(600_000);
  expect(warnings).toHaveLength(told);
  stop();
});

test.each([
  [undefined, undefined],
  [true, [{ manager: 'm' }]],
])('Informer that keeps writers: %s caches managedFields as %j', async (keepsWriters, want) => {
  const metadata = { name: 'a', namespace: 'n', resourceVersion: '5', managedFields: [{ manager: 'm' }] };
  const { client } = silentServer(() => ({ metadata: { resourceVersion: '7' }, items: [{ metadata }] }));
  const abort = new AbortController();
  const { log } = listeningLog();
  const informer = new Informer({ client, clock: new ManualClock(), type: podType, log, keepsWriters });
  informer.start(abort.signal);
  await informer.whenSynced();
  expect(informer.get({ namespace: 'n', name: 'a' })?.metadata.managedFields).toEqual(want);
  abort.abort();
});
