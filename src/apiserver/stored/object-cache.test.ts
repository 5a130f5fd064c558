import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredEntry } from '../../storage/index.ts';
import { ObjectCache } from './object-cache.ts';

const entry = (object: object): StoredEntry => ({
  key: '/a',
  value: Buffer.from(JSON.stringify(object)),
  revision: 1,
  createRevision: 1,
});
const managedFields = [{ manager: 'm "x" \\', fieldsV1: { 'k:{"name":"a]\\"}': { '.': {} }, 'v:[1]': {} } }];

test('readWithoutManagedFields() gives the object without managed fields, decoded before or not', () => {
  const pod = { kind: 'Pod', metadata: { name: 'a', managedFields, labels: { b: 'c' } }, spec: { x: [1] }, status: {} };
  const { managedFields: _, ...metadata } = pod.metadata;
  const cache = new ObjectCache();
  const stored = entry(pod);
  expect(cache.readWithoutManagedFields(stored)).toEqual({ ...pod, metadata });
  expect(cache.read(stored)).toEqual(pod);
  expect(cache.readWithoutManagedFields(stored)).toEqual({ ...pod, metadata });
});

test('no way of reading loses anything else, whatever the object holds and in whatever order', () => {
  const text = fc.constantFrom('"managedFields":[', 'managedFields', '\\', '"', ']', '[', 'spec', '"spec":', 'é');
  const value = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.array(tie('value'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(fc.constantFrom('managedFields', 'a"b', 'spec', 'status', 'x]'), tie('value'), {
      maxKeys: 3,
    }),
  }));
  fc.assert(
    fc.property(value.object, value.object, value.value, fc.boolean(), (spec, status, fields, metadataFirst) => {
      const metadata = { name: 'a', annotations: { note: JSON.stringify(spec) }, managedFields: [fields] };
      const object = metadataFirst ? { metadata, spec, status } : { spec, status, metadata };
      const { managedFields: _, ...rest } = metadata;
      expect(new ObjectCache().readWithoutManagedFields(entry(object))).toEqual({ ...object, metadata: rest });
      const cache = new ObjectCache();
      cache.readWithoutManagedFields(entry({ ...object, metadata: { ...metadata, name: 'b' } }));
      expect(cache.readWithoutManagedFields(entry(object)), 'behind a replica').toEqual({ ...object, metadata: rest });
      expect(new ObjectCache().read(entry(object))).toEqual(object);
      const { object: parts, managedFields } = new ObjectCache().readParts(entry(object));
      expect([parts, JSON.parse(managedFields ?? '')]).toEqual([{ ...object, metadata: rest }, [fields]]);
    }),
    { numRuns: 500 },
  );
});

test('managed fields that are not found at a glance are found all the same, whoever holds the object', () => {
  const pod = { kind: 'Pod', metadata: { name: 'a', labels: { spec: 'x', status: 'y' }, managedFields }, spec: {} };
  const stored = entry(pod);
  const cache = new ObjectCache();
  const held = cache.readWithoutManagedFields(stored);
  expect(held.metadata.managedFields).toBeUndefined();
  expect(cache.read(stored)).toEqual(pod);
  expect(cache.readParts(stored)).toEqual({ object: held, managedFields: JSON.stringify(managedFields) });
});

test('readWithoutManagedFields() shares a decoded object for as long as somebody holds it, whatever else is read', () => {
  const cache = new ObjectCache(1);
  const stored = entry({ metadata: { name: 'a', managedFields } });
  const held = cache.readWithoutManagedFields(stored);
  cache.read(entry({ metadata: { name: 'b' } }));
  expect(cache.readWithoutManagedFields(stored)).toBe(held);
});

test('readWithoutManagedFields() parses of a replica only what differs from the one before', () => {
  const cache = new ObjectCache();
  const pod = (name: string) => ({
    kind: 'Pod',
    metadata: { name, managedFields },
    spec: { x: [1] },
    status: { y: 2 },
  });
  const first = cache.readWithoutManagedFields(entry(pod('a')));
  const second = cache.readWithoutManagedFields(entry(pod('b')));
  expect(second).toEqual({ kind: 'Pod', metadata: { name: 'b' }, spec: { x: [1] }, status: { y: 2 } });
  expect(second['spec']).toBe(first['spec']);
  const other = cache.readWithoutManagedFields(entry({ ...pod('c'), status: { y: 3 } }));
  expect(other).toEqual({ kind: 'Pod', metadata: { name: 'c' }, spec: { x: [1] }, status: { y: 3 } });
});
