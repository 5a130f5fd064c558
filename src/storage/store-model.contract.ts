import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OpenStore } from './store.contract.ts';
import type { StoredEntry, Store } from './store.ts';

/** The store as plainly as it can be written: a full copy of the state per revision. */
class Model {
  readonly snapshots: Map<string, string>[] = [new Map()];
  readonly events: string[] = [];

  get revision(): number {
    return this.snapshots.length - 1;
  }

  get state(): Map<string, string> {
    return this.snapshots[this.revision] as Map<string, string>;
  }

  write(key: string, value: string | undefined): void {
    const next = new Map(this.state);
    if (value === undefined) next.delete(key);
    else next.set(key, value);
    this.snapshots.push(next);
    this.events.push(`${this.revision} ${key} ${value ?? 'gone'}`);
  }

  range(prefix: string, revision: number): string[] {
    const state = this.snapshots[revision] as Map<string, string>;
    return [...state.entries()]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${key}=${value}`)
      .sort();
  }
}

const prefixes = ['', '/', '/a/', '/a', '/b/', '/a/x', '/none/'];
const key = fc.constantFrom('/a/x', '/a/xy', '/a/y', '/a/z', '/b/x', '/b/y', '/c');
const write = fc.record({ key, remove: fc.boolean() });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write'), writes: fc.array(write, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('throw'), writes: fc.array(write, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle'), writes: fc.constant([]) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('watch'), writes: fc.constant([]) }) },
);
type Step = { readonly kind: string; readonly writes: readonly { readonly key: string; readonly remove: boolean }[] };

/** Random sequences of transactions, some unawaited, some throwing, compared with the model after every settling. */
export function propertyStore(name: string, open: OpenStore, numRuns: number): void {
  test(`${name} behaves as the model under random sequences`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = await open();
        try {
          await play(store, steps);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
  });
}

async function play(store: Store, steps: readonly Step[]): Promise<void> {
  const model = new Model();
  const watches: { after: number; prefix: string; seen: string[] }[] = [];
  const pending: Promise<unknown>[] = [];

  const startWatch = (at: number) => {
    const watch = {
      after: store.revision >> 1,
      prefix: prefixes[at % prefixes.length] as string,
      seen: [] as string[],
    };
    watches.push(watch);
    store.watch(watch.prefix, watch.after, (events) => {
      for (const { revision, key, type, entry } of events) {
        watch.seen.push(`${revision} ${key} ${type === 'put' ? entry?.value.toString() : 'gone'}`);
      }
    });
  };

  const settle = async () => {
    await Promise.all(pending.splice(0));
    expect(store.revision).toBe(model.revision);
    for (const prefix of prefixes) compareRange(store, model, prefix);
    for (const { after, prefix, seen } of watches) {
      const expected = model.events.slice(after).filter((event) => (event.split(' ')[1] as string).startsWith(prefix));
      expect(seen).toEqual(expected);
    }
  };

  for (const [at, { kind, writes }] of steps.entries()) {
    if (kind === 'settle') await settle();
    else if (kind === 'watch') startWatch(at);
    else pending.push(runWrites(store, model, writes, kind === 'throw'));
  }
  await settle();
}

function runWrites(store: Store, model: Model, writes: Step['writes'], fails: boolean): Promise<unknown> {
  const running = store.transact((txn) => {
    for (const { key, remove } of writes) {
      if (remove && txn.get(key) === undefined) continue;
      if (remove) txn.delete(key);
      else txn.put(key, (revision) => Buffer.from(`v${revision}`));
      if (!fails) model.write(key, remove ? undefined : `v${model.revision + 1}`);
    }
    expect(show(txn.range('/a')), 'pending state').toEqual(
      fails ? expect.anything() : model.range('/a', model.revision),
    );
    if (fails) throw new Error('on purpose');
  });
  return fails ? expect(running).rejects.toThrow('on purpose') : running;
}

function compareRange(store: Store, model: Model, prefix: string): void {
  expect(show(store.range(prefix))).toEqual(model.range(prefix, model.revision));
  expect(store.count(prefix)).toBe(model.range(prefix, model.revision).length);
  for (let revision = store.oldestRevision; revision <= model.revision; revision++) {
    const expected = model.range(prefix, revision);
    expect(show(store.rangeAt(prefix, revision)?.entries ?? [])).toEqual(expected);
    const startAfter = '/a/x';
    const rest = expected.filter((line) => (line.split('=')[0] as string) > startAfter);
    const page = store.rangeAt(prefix, revision, { startAfter, limit: 2 });
    expect(show(page?.entries ?? [])).toEqual(rest.slice(0, 2));
    expect(page?.remaining).toBe(Math.max(0, rest.length - 2));
  }
}

function show(entries: Iterable<StoredEntry>): string[] {
  return [...entries].map(({ key, value }) => `${key}=${value.toString()}`);
}
