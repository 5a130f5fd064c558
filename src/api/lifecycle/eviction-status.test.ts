import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Condition } from '../generated/meta-v1.ts';
import type { Eviction, EvictionStatus } from '../generated/lifecycle-v1alpha1.ts';
import { NOW, readStatusCases } from './eviction-status.fixture.ts';
import { FAILED, inOrder, TARGET_EVICTED, validateEvictionStatus } from './index.ts';

const eviction = (status: EvictionStatus): Eviction => ({ metadata: { name: 'pod-1-web', namespace: 'a' }, status });
const refused = (status: EvictionStatus, old: EvictionStatus, now = NOW): string[] =>
  validateEvictionStatus(eviction(status), eviction(old), now)
    .map(({ path, rule }) => `${path} ${rule.replace('FieldValue', '')}`)
    .sort();
const time = '2026-11-18T12:00:00Z';

test.each(readStatusCases())('ER-05: $name', ({ now, old, refused: expected, status }) => {
  expect(refused(status, old, now)).toEqual([...expected].sort());
});

test('ER-05: the order of the lists does not matter', () => {
  const accepted = readStatusCases().filter((one) => one.refused.length === 0);
  const list = <T>(items: readonly T[] | undefined): fc.Arbitrary<T[]> =>
    fc.shuffledSubarray([...(items ?? [])], { minLength: items?.length ?? 0 });
  const mixed = fc.constantFrom(...accepted).chain((one) =>
    fc.record({
      one: fc.constant(one),
      targets: list(one.status.targetResponders),
      reports: list(one.status.responders),
      before: list(one.old.targetResponders),
    }),
  );
  fc.assert(
    fc.property(mixed, ({ before, one, reports, targets }) => {
      const status = { ...one.status, targetResponders: targets, responders: reports };
      expect(refused(status, { ...one.old, targetResponders: before }, one.now)).toEqual([]);
    }),
  );
});

test.each([TARGET_EVICTED, FAILED])('ER-04: a True %s stays as it is, with its reason', (type) => {
  const condition = (status: string, reason = 'First'): Condition => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: time,
  });
  const old = { conditions: [condition('True')] };
  expect(refused({ conditions: [] }, old)).toEqual(['status.conditions Invalid']);
  expect(refused({ conditions: [condition('False')] }, old)).toEqual(['status.conditions Invalid']);
  expect(refused({ conditions: [condition('True', 'Second')] }, old)).toEqual(['status.conditions Invalid']);
  expect(refused(old, old)).toEqual([]);
});

test('ER-06: priorities below 1000 are for the default responder, at exactly 100', () => {
  const first = (name: string, priority: number): string[] =>
    refused({ targetResponders: [{ name, priority, state: 'Active' }], responders: [{ name, startTime: time }] }, {});
  const priority = ['status.targetResponders[0].priority Invalid'];
  expect(first('example.com/x', 999)).toEqual(priority);
  expect(first('example.com/x', 1000)).toEqual([]);
  expect(first('imperative-eviction.k8s.io/evictor', 101)).toEqual(priority);
  expect(first('imperative-eviction.k8s.io/evictor', 100)).toEqual([]);
});

const names = (responders: readonly (readonly [string, number | undefined])[]): string[] =>
  inOrder(responders.map(([name, priority]) => ({ name, priority }))).map(({ name }) => name);

test('ER-07: equal priorities go by the domain from the top down, then by the key', () => {
  expect(
    names([
      ['b.example.com/x', 10_000],
      ['example.com/z', 10_000],
      ['a.example.io/x', 10_000],
    ]),
  ).toEqual(['example.com/z', 'b.example.com/x', 'a.example.io/x']);
});

test('ER-07: any order sorts to that of Kubernetes', () => {
  const ordered = [
    'responder-x.example.com/bar 16',
    'responder-c.fooexample.com/bar 16',
    'example.com/bar 15',
    'example.com/baz 15',
    'responder-y.example.com/bar 15',
    'responder-y.example.com/baz 15',
    'responder-z.example.com/bar 15',
    'responder-z.example.com/baz 15',
    'fooexample.com/bar 15',
    'responder-a.fooexample.com/bar 15',
    'responder-b.fooexample.com/bar 15',
    'responder-b.fooexample.com/baz 15',
    'responder-b.barexample.io/bar 15',
    'responder-b.fooexample.io/bar 15',
    'responder-b.fooexample.io/baz 15',
    'responder-k.kubernetes.io/y 14',
    'responder-k.kubernetes.io/z 14',
    'responder-k.kubernetes.io/x 13',
    'responder.example.com/none -',
  ].map((text): readonly [string, number | undefined] => {
    const [name = '', priority] = text.split(' ');
    return [name, priority === '-' ? undefined : Number(priority)];
  });
  const all = fc.shuffledSubarray(ordered, { minLength: ordered.length });
  fc.assert(
    fc.property(all, (mixed) => {
      expect(names(mixed)).toEqual(ordered.map(([name]) => name));
    }),
  );
});
