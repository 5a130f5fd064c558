import { expect, test } from 'vitest';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import { statefulSetType } from '../../../api/resource-types.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import { stableJson } from './hash.ts';
import { newRevision, revisionsBeyond, sortRevisions, templateOf } from './revision.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:1' }] } };
const owner = { metadata: { namespace: 'ns', name: 'web', uid: '1' } };
const revision = (name: string, number: number, creationTimestamp = ''): ControllerRevision => ({
  metadata: { name, creationTimestamp },
  revision: number,
});

test('newRevision() gives back the template it was made from', () => {
  const made = newRevision(owner, statefulSetType, { collisionCount: 0, revision: 1, template });
  const [container] = template.spec.containers;
  expect(templateOf(made)).toEqual({ ...template, spec: { containers: [{ ...container, resources: {} }] } });
  expect(made.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]+$/);
  expect(made.metadata.labels).toMatchObject({ app: 'web' });
});

test('newRevision() writes the template as clients write it, to be compared byte by byte', () => {
  const { data } = newRevision(owner, statefulSetType, { collisionCount: 0, revision: 1, template });
  expect(JSON.stringify(data)).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"image":"web:1","name":"c","resources":{}}]}}}}',
  );
});

test('newRevision() names the same template alike whatever the order of its fields', () => {
  const turned = { spec: { containers: [{ image: 'web:1', name: 'c' }] }, metadata: { labels: { app: 'web' } } };
  const name = (from: typeof template, collisionCount: number) =>
    newRevision(owner, statefulSetType, { collisionCount, revision: 1, template: from }).metadata.name;
  expect(name(turned, 0)).toBe(name(template, 0));
  expect(name(template, 1)).not.toBe(name(template, 0));
});

test('nameHash() is FNV-1 in the alphabet of generated names', () => {
  // FNV-1 of the empty text is 2166136261.
  expect(nameHash('')).toBe('65bb57b6b5');
  expect(stableJson({ b: [1, { d: 1, c: undefined }], a: null })).toBe('{"a":null,"b":[1,{"d":1}]}');
});

test('sortRevisions() puts the oldest first', () => {
  const sorted = sortRevisions([revision('c', 2), revision('b', 1, '2'), revision('a', 1, '1')]);
  expect(sorted.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
});

test('revisionsBeyond() spares what is in use', () => {
  const all = ['a', 'b', 'c', 'd'].map((name, index) => revision(name, index));
  const names = (limit: number) =>
    revisionsBeyond(all, new Set(['a', 'd']), limit).map(({ metadata }) => metadata.name);
  expect(names(0)).toEqual(['b', 'c']);
  expect(names(1)).toEqual(['b']);
  expect(names(5)).toEqual([]);
});
