import { expect, test } from 'vitest';
import { type CompositeTree, isAvailableInTree, type TreeNode, unitInTree } from './composite.ts';

function treeOf(composites: readonly TreeNode[], leaves: readonly TreeNode[] = []): CompositeTree {
  const of = (nodes: readonly TreeNode[], parent: string) => nodes.filter((node) => node.parent === parent);
  return {
    composite: (name) => composites.find((node) => node.name === name),
    childrenOf: (name) => ({ composites: of(composites, name), leaves: of(leaves, name) }),
  };
}

const leaves: readonly TreeNode[] = [
  { name: 'prefill', parent: 'replica', mode: 'single', needed: 4 },
  { name: 'decode', parent: 'replica', mode: 'single', needed: 2 },
];

test('R-12 a composite that fails as one makes one unit of its leaves; where all are single, each leaf is its own', () => {
  const unitsUnder = (mode: TreeNode['mode']) =>
    leaves.map((leaf) => unitInTree(leaf, treeOf([{ name: 'replica', mode }])));
  expect(unitsUnder('all')).toEqual([
    { kind: 'composite', name: 'replica' },
    { kind: 'composite', name: 'replica' },
  ]);
  expect(unitsUnder('single')).toEqual([
    { kind: 'leaf', name: 'prefill' },
    { kind: 'leaf', name: 'decode' },
  ]);
});

test('the highest ancestor that fails as one is the unit, whatever lies between', () => {
  const tree = treeOf([
    { name: 'replica', parent: 'rack', mode: 'single' },
    { name: 'rack', parent: 'cell', mode: 'all' },
    { name: 'cell', mode: 'single' },
  ]);
  expect(unitInTree(leaves[0] as TreeNode, tree)).toEqual({ kind: 'composite', name: 'rack' });
});

test('a parent that is missing, or a chain that does not end, is broken and never guessed', () => {
  const leaf: TreeNode = { name: 'a', parent: 'x', mode: 'all' };
  expect(unitInTree(leaf, treeOf([]))).toEqual({ kind: 'broken', reason: 'CompositePodGroupNotFound', name: 'x' });
  const loop = treeOf([{ name: 'x', parent: 'x', mode: 'all' }]);
  expect(unitInTree(leaf, loop)).toEqual({ kind: 'broken', reason: 'TooManyLevels', name: 'x' });
});

test.each([
  ['every child has its quorum', { prefill: 4, decode: 2 }, true],
  ['a surplus in one does not make up for the other', { prefill: 9, decode: 1 }, false],
  ['none is up', {}, false],
])('a composite gang of two is available when %s', (_, pods: Record<string, number>, available) => {
  const tree = treeOf([{ name: 'replica', mode: 'all', needed: 2 }], leaves);
  const asked = {
    healthy: (name: string) => pods[name] ?? 0,
    leaf: (name: string) => leaves.find((node) => node.name === name),
  };
  expect(isAvailableInTree({ kind: 'composite', name: 'replica' }, tree, asked)).toBe(available);
});

test('a basic composite, nested, is available with one child; a leaf by its own pods', () => {
  const tree = treeOf(
    [
      { name: 'cell', mode: 'all' },
      { name: 'replica', parent: 'cell', mode: 'single' },
    ],
    leaves,
  );
  const asked = {
    healthy: (name: string) => (name === 'decode' ? 2 : 0),
    leaf: (name: string) => leaves.find((node) => node.name === name),
  };
  expect(isAvailableInTree({ kind: 'composite', name: 'cell' }, tree, asked)).toBe(true);
  expect(isAvailableInTree({ kind: 'leaf', name: 'decode' }, tree, asked)).toBe(true);
  expect(isAvailableInTree({ kind: 'leaf', name: 'prefill' }, tree, asked)).toBe(false);
});
