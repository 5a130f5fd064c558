import { expect, test } from 'vitest';
import type { ObjectMeta } from '../../../api/generated/meta-v1.ts';
import { configMapType } from '../../../api/resource-types.ts';
import { DependencyGraph, type GraphWakes } from './graph.ts';

const meta = (uid: string, owners: string[] = [], over: Partial<ObjectMeta> = {}) => ({
  metadata: {
    uid,
    name: uid,
    namespace: 'default',
    ownerReferences: owners.map((owner) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid: owner,
      blockOwnerDeletion: true,
    })),
    ...over,
  },
});
const deleting = (finalizer: string) => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] });
const woken = ({ examine, orphan }: GraphWakes) => ({ examine: [...examine].sort(), orphan: [...orphan] });

function graphOf(...objects: ReturnType<typeof meta>[]) {
  const graph = new DependencyGraph();
  for (const object of objects) graph.observe(configMapType, object);
  const see = (object: ReturnType<typeof meta>) => woken(graph.observe(configMapType, object));
  return { graph, see };
}

test('an owner heard of before it is seen is looked for, and known once it appears', () => {
  const { graph, see } = graphOf();
  expect(see(meta('child', ['owner']))).toEqual({ examine: ['owner'], orphan: [] });
  expect(graph.get('owner')).toMatchObject({ observed: false, kind: 'ConfigMap', namespace: 'default' });
  expect(see(meta('owner'))).toEqual({ examine: [], orphan: [] });
  expect(graph.get('owner')?.observed).toBe(true);
  expect(see(meta('second', ['owner'])).examine).toEqual([]);
});

test('when an object is gone its dependents are looked at', () => {
  const { graph } = graphOf(meta('owner'), meta('a', ['owner']), meta('b', ['owner']));
  expect(woken(graph.forget('owner')).examine).toEqual(['a', 'b']);
  expect(woken(graph.forget('owner')).examine).toEqual([]);
});

test('foreground deletion wakes the owner and its dependents once', () => {
  const { see } = graphOf(meta('owner'), meta('a', ['owner']));
  expect(see(meta('owner', [], deleting('foregroundDeletion'))).examine).toEqual(['a', 'owner']);
  expect(see(meta('owner', [], deleting('foregroundDeletion'))).examine).toEqual([]);
});

test('an owner that waits is woken when a dependent goes, lets go, or stops blocking', () => {
  const { graph, see } = graphOf(meta('owner', [], deleting('foregroundDeletion')));
  for (const uid of ['a', 'b', 'c']) expect(see(meta(uid, ['owner'])).examine).toEqual([uid]);
  expect(woken(graph.forget('a')).examine).toEqual(['owner']);
  expect(see(meta('b')).examine).toEqual(['owner']);
  const loose = meta('c', ['owner']);
  for (const reference of loose.metadata.ownerReferences ?? []) reference.blockOwnerDeletion = false;
  expect(see(loose).examine).toEqual(['owner']);
});

test('orphan deletion is announced once', () => {
  const { see } = graphOf(meta('owner'));
  expect(see(meta('owner', [], deleting('orphan')))).toEqual({ examine: [], orphan: ['owner'] });
  expect(see(meta('owner', [], deleting('orphan'))).orphan).toEqual([]);
});

test('a dependent in another namespace than its owner is looked at', () => {
  const { see } = graphOf(meta('owner', [], { namespace: 'elsewhere' }));
  expect(see(meta('child', ['owner'])).examine).toEqual(['child']);
});

test('owners nobody refers to any more leave the graph', () => {
  const { graph, see } = graphOf(meta('child', ['ghost']));
  expect(graph.size).toBe(2);
  see(meta('child'));
  expect(graph.size).toBe(1);
  graph.forget('child');
  expect(graph.size).toBe(0);
});
