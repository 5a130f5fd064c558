import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSchema, nodeOfKind, type ObjectNode } from '../../../api/schema/index.ts';
import { deepClone, type JsonObject } from '../../../machinery/values/index.ts';
import { applyMergePatch } from '../merge-patch.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { PatchError } from '../patch-error.ts';
import { applyStrategicMergePatch } from './merge.ts';

const node = (group: string, version: string, kind: string): ObjectNode => {
  const found = nodeOfKind(loadSchema(), { group, version, kind });
  if (found === undefined) throw new Error(`no such kind: ${kind}`);
  return found;
};
const pod = node('', 'v1', 'Pod');
const deployment = node('apps', 'v1', 'Deployment');
const pdb = node('policy', 'v1', 'PodDisruptionBudget');

const container = (name: string, rest: JsonObject = {}): JsonObject => ({ name, ...rest });
const spec = (...containers: JsonObject[]): JsonObject => ({ spec: { containers } });
const names = (object: JsonObject): string[] =>
  ((object.spec as JsonObject).containers as { name: string }[]).map(({ name }) => name);

test('applyStrategicMergePatch() merges containers by name and keeps what the patch does not mention', () => {
  const original = spec(container('a', { image: 'x:1', env: [{ name: 'K', value: '1' }] }), container('b'));
  const patched = applyStrategicMergePatch(pod, original, spec(container('a', { image: 'x:2', env: [{ name: 'L' }] })));
  expect(patched).toEqual(
    spec(container('a', { image: 'x:2', env: [{ name: 'L' }, { name: 'K', value: '1' }] }), container('b')),
  );
});

test('applyStrategicMergePatch() puts new items before those the patch does not name', () => {
  expect(names(applyStrategicMergePatch(pod, spec(container('old')), spec(container('new'))))).toEqual(['new', 'old']);
});

test('applyStrategicMergePatch() interleaves by the order of the original', () => {
  const original = spec(container('a'), container('b'), container('c'), container('d'));
  const patch = spec(container('d', { image: 'x' }), container('b', { image: 'x' }));
  expect(names(applyStrategicMergePatch(pod, original, patch))).toEqual(['a', 'c', 'd', 'b']);
});

test.each<[string, ObjectNode, JsonObject, JsonObject, JsonObject]>([
  [
    'deletes an item by its key',
    pod,
    spec(container('a'), container('b')),
    spec({ name: 'a', $patch: 'delete' }),
    spec(container('b')),
  ],
  [
    'replaces a list by directive',
    pod,
    spec(container('a')),
    spec(container('b'), { $patch: 'replace' }),
    spec(container('b')),
  ],
  [
    'replaces a map by directive',
    pod,
    { metadata: { labels: { a: '1' } } },
    { metadata: { labels: { $patch: 'replace', b: '2' } } },
    { metadata: { labels: { b: '2' } } },
  ],
  [
    'empties a map by directive',
    pod,
    { metadata: { labels: { a: '1' } } },
    { metadata: { labels: { $patch: 'delete' } } },
    { metadata: { labels: {} } },
  ],
  [
    'unites scalar merge lists',
    pod,
    { metadata: { finalizers: ['a', 'b'] } },
    { metadata: { finalizers: ['c', 'a'] } },
    { metadata: { finalizers: ['c', 'a', 'b'] } },
  ],
  [
    'deletes from scalar lists',
    pod,
    { metadata: { finalizers: ['a', 'b'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
    { metadata: { finalizers: ['b'] } },
  ],
  [
    'replaces lists without a merge key',
    pod,
    { spec: { tolerations: [{ key: 'a' }] } },
    { spec: { tolerations: [{ key: 'b' }] } },
    { spec: { tolerations: [{ key: 'b' }] } },
  ],
  [
    'replaces a PDB selector',
    pdb,
    { spec: { selector: { matchLabels: { a: '1' } } } },
    { spec: { selector: { matchLabels: { b: '2' } } } },
    { spec: { selector: { matchLabels: { b: '2' } } } },
  ],
  [
    'keeps only retained keys',
    deployment,
    { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { spec: { strategy: { type: 'Recreate' } } },
  ],
  [
    'drops nulls from added maps',
    pod,
    {},
    { metadata: { labels: { a: '1', b: null } } },
    { metadata: { labels: { a: '1' } } },
  ],
  ['deletes a field on null', pod, { spec: { nodeName: 'n' } }, { spec: { nodeName: null } }, { spec: {} }],
  [
    'merges container ports by containerPort',
    pod,
    spec(container('a', { ports: [{ containerPort: 80, name: 'x' }] })),
    spec(container('a', { ports: [{ containerPort: 80, protocol: 'UDP' }] })),
    spec(container('a', { ports: [{ containerPort: 80, name: 'x', protocol: 'UDP' }] })),
  ],
])('applyStrategicMergePatch() %s', (_, kind, original, patch, want) => {
  expect(applyStrategicMergePatch(kind, original, patch)).toEqual(want);
});

test('applyStrategicMergePatch() follows $setElementOrder; items it does not name keep their place', () => {
  const original = spec(container('a'), container('server'), container('b'));
  const patch = {
    spec: {
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }, { name: 'c' }],
      containers: [container('c', { image: 'x' })],
    },
  };
  expect(names(applyStrategicMergePatch(pod, original, patch))).toEqual(['server', 'b', 'a', 'c']);
  const scalars = { metadata: { finalizers: ['a', 'b', 'c'] } };
  const order = { metadata: { '$setElementOrder/finalizers': ['c', 'a'] } };
  expect(applyStrategicMergePatch(pod, scalars, order)).toEqual({ metadata: { finalizers: ['b', 'c', 'a'] } });
});

test.each<[string, JsonObject, number]>([
  ['an item without its merge key', spec({ image: 'x' }), 500],
  ['an unknown directive', { spec: { $patch: 'explode' } }, 500],
  ['retainKeys that is no list', { spec: { $retainKeys: 'x' } }, 400],
  ['retainKeys that does not name a patched key', { spec: { $retainKeys: ['a'], nodeName: 'n' } }, 400],
  ['an order list that is no list', { spec: { '$setElementOrder/containers': {} } }, 400],
])('applyStrategicMergePatch() refuses %s', (_, patch, code) => {
  const run = () => applyStrategicMergePatch(pod, spec(container('a')), patch);
  expect(run).toThrow(PatchError);
  expect(run).toThrow(expect.objectContaining({ code }));
});

test('applyStrategicMergePatch() equals a merge patch on maps of scalars', () => {
  const labels = fc.dictionary(fc.stringMatching(/^[a-c]$/), fc.string());
  const patchOf = fc.dictionary(fc.stringMatching(/^[a-c]$/), fc.option(fc.string()));
  fc.assert(
    fc.property(labels, patchOf, (before, change) => {
      const original = { metadata: { labels: before } };
      const patch = { metadata: { labels: change } };
      expect(applyStrategicMergePatch(pod, original, patch)).toEqual(applyMergePatch(original, patch));
    }),
  );
});

test('applyStrategicMergePatch() fails only with PatchError and changes neither argument', () => {
  const key = fc.constantFrom(
    'name',
    'image',
    'env',
    'ports',
    '$patch',
    '$retainKeys',
    'containers',
    '$setElementOrder/containers',
    '$deleteFromPrimitiveList/finalizers',
    'finalizers',
    '__proto__',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>('a', 'b', 'delete', 'replace', 1, null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }));
  const object = fc.record({ spec: fc.dictionary(key, value), metadata: fc.dictionary(key, value) });
  fc.assert(
    fc.property(object, object, (original, patch) => {
      const before = deepClone({ original, patch });
      try {
        applyStrategicMergePatch(pod, original, patch);
      } catch (error) {
        expect(error).toBeInstanceOf(PatchError);
      }
      expect({ original, patch }).toEqual(before);
    }),
    { numRuns: 1000 },
  );
});

test('17.11: applyStrategicMergePatch() refuses more objects in a list than one may have, before it merges them', () => {
  const many = Array.from({ length: LIMITS.listedObjects + 1 }, (_, at) => container(`c${at}`));
  expect(() => applyStrategicMergePatch(pod, spec(container('a')), spec(...many))).toThrow(/limit is 10000 objects/);
});
