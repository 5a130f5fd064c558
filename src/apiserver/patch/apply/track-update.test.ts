import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../../api/generated/meta-v1.ts';
import { loadSchema, nodeOfKind, type ObjectNode } from '../../../api/schema/index.ts';
import type { JsonObject } from '../../../machinery/values/index.ts';
import { type UpdateToTrack, trackUpdate } from './track-update.ts';

const found = nodeOfKind(loadSchema(), { group: '', version: 'v1', kind: 'Pod' });
if (found === undefined) throw new Error('Pod must be known');
const node: ObjectNode = found;
const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;

const pod = (metadata: JsonObject, rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata },
  ...rest,
});

const track = (before: JsonObject | undefined, after: JsonObject, over: Partial<UpdateToTrack> = {}) =>
  trackUpdate({ before, after, node, manager: 'm', apiVersion: 'v1', now: at(1), ...over });

const withEntries = (object: JsonObject, managedFields: unknown): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), managedFields },
});

test('a create is owned by its writer, without identity and server-set fields', () => {
  const object = pod(
    { labels: { a: '1' }, creationTimestamp: at(0), generation: 1 },
    { spec: { containers: [{ name: 'c', image: 'i', resources: {} }], restartPolicy: 'Always' }, status: {} },
  );
  expect(track(undefined, object)).toEqual([
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      time: at(1),
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': {
          'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:image': {}, 'f:resources': {} } },
          'f:restartPolicy': {},
        },
      },
    },
  ]);
});

test('a later writer takes what it changes; what is gone is nobodys', () => {
  const before = pod({ labels: { a: '1', b: '2', c: '3' } });
  const live = withEntries(before, track(undefined, before));
  const after = pod({ labels: { a: '9', b: '2' } });
  const entries = track(live, after, { manager: 'other', now: at(2) });
  expect(entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
    ['m', { 'f:metadata': { 'f:labels': { '.': {}, 'f:b': {} } } }],
    ['other', { 'f:metadata': { 'f:labels': { 'f:a': {} } } }],
  ]);
});

test('a write that changes nothing keeps entries and times', () => {
  const before = pod({ labels: { a: '1' } });
  const entries = track(undefined, before);
  const live = withEntries(before, entries);
  expect(track(live, live, { now: at(9) })).toEqual(entries);
  expect(track(live, before, { manager: 'x', now: at(9) })).toEqual(entries);
});

test('subresource writes have an entry of their own and cannot edit entries', () => {
  const before = pod({ labels: { a: '1' } });
  const live = withEntries(before, track(undefined, before));
  const after = withEntries(pod({ labels: { a: '1' } }, { status: { phase: 'Running' } }), [{}]);
  const entries = track(live, after, { manager: 'kubelet', subresource: 'status', now: at(2) });
  expect(entries.map(({ manager, subresource }) => [manager, subresource])).toEqual([
    ['m', undefined],
    ['kubelet', 'status'],
  ]);
});

test.each([
  ['an empty list', []],
  ['one empty entry', [{}]],
])('managedFields as %s resets tracking', (_, managedFields) => {
  const before = pod({ labels: { a: '1' } });
  const live = withEntries(before, track(undefined, before));
  expect(track(live, withEntries(pod({ labels: { a: '2' } }), managedFields))).toEqual([]);
});

test('entries a client garbled are replaced by the stored ones', () => {
  const before = pod({ labels: { a: '1' } });
  const entries = track(undefined, before);
  const live = withEntries(before, entries);
  const garbled = [{ manager: 'x', operation: 'Steal', apiVersion: 'v1', fieldsType: 'FieldsV1' }];
  expect(track(live, withEntries(before, garbled))).toEqual(entries);
});

test('more than ten updaters fold into ancient-changes, oldest first', () => {
  let live: JsonObject | undefined;
  for (let i = 0; i < 13; i++) {
    const labels: Record<string, string> = {};
    for (let j = 0; j <= i; j++) labels[`l${j}`] = 'x';
    const object = pod({ labels });
    live = withEntries(object, track(live, object, { manager: `m${i}`, now: at(i) }));
  }
  const entries = ((live as JsonObject).metadata as { managedFields: ManagedFieldsEntry[] }).managedFields;
  expect(entries).toHaveLength(10);
  expect(entries[0]).toMatchObject({
    manager: 'ancient-changes',
    fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l0': {}, 'f:l1': {}, 'f:l2': {}, 'f:l3': {} } } },
  });
  expect(entries.map(({ manager }) => manager)).not.toContain('m3');
  expect(entries.map(({ manager }) => manager)).toContain('m4');
});
