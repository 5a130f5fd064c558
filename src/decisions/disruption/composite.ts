/**
 * Which unit a PodGroup below a tree of CompositePodGroups belongs to, and whether that unit is available. Neither host
 * holds CompositePodGroups (they exist in one alpha version that is not served), so nothing asks this yet; a budget that
 * learns of such a tree has its answer here.
 */

/** Modes and quorums of a group, leaf or composite, as far as disruption cares. */
export interface TreeNode {
  readonly name: string;
  /** The composite it names as its parent. */
  readonly parent?: string | undefined;
  /** `all`: it fails as one. */
  readonly mode: 'single' | 'all';
  /** Members that must be available: pods of a leaf, children of a composite. Undefined (basic): one. */
  readonly needed?: number | undefined;
}

export interface CompositeTree {
  composite(name: string): TreeNode | undefined;
  /** Composites and leaves that name a composite as their parent. */
  childrenOf(name: string): { readonly composites: readonly TreeNode[]; readonly leaves: readonly TreeNode[] };
}

/** Levels of a tree that validation lets through, the leaf included; beyond it a chain is a loop or a mistake. */
const MAX_LEVELS = 4;

export type TreeUnit =
  | { readonly kind: 'leaf'; readonly name: string }
  | { readonly kind: 'composite'; readonly name: string }
  | { readonly kind: 'broken'; readonly reason: 'CompositePodGroupNotFound' | 'TooManyLevels'; readonly name: string };

/** The highest ancestor that fails as one is the unit; where none does, the leaf is. */
export function unitInTree(leaf: TreeNode, tree: CompositeTree): TreeUnit {
  let unit: TreeUnit = { kind: 'leaf', name: leaf.name };
  let { parent } = leaf;
  for (let level = 2; parent !== undefined; level += 1) {
    if (level > MAX_LEVELS) return { kind: 'broken', reason: 'TooManyLevels', name: parent };
    const composite = tree.composite(parent);
    if (composite === undefined) return { kind: 'broken', reason: 'CompositePodGroupNotFound', name: parent };
    if (composite.mode === 'all') unit = { kind: 'composite', name: composite.name };
    ({ parent } = composite);
  }
  return unit;
}

/**
 * A leaf is available with enough healthy pods, a composite with enough available children. A sum of pods over the tree
 * would not do: surplus in one group does not make up for another that is down.
 */
export function isAvailableInTree(
  unit: TreeUnit,
  tree: CompositeTree,
  { healthy, leaf }: { healthy: (podGroup: string) => number; leaf: (podGroup: string) => TreeNode | undefined },
): boolean {
  const isLeafUp = (node: TreeNode): boolean => healthy(node.name) >= (node.needed ?? 1);
  const isUp = (node: TreeNode, level: number): boolean => {
    const { composites, leaves } = tree.childrenOf(node.name);
    const up =
      leaves.filter(isLeafUp).length + (level > 1 ? composites.filter((child) => isUp(child, level - 1)).length : 0);
    return up >= (node.needed ?? 1);
  };
  if (unit.kind === 'broken') return false;
  const node = unit.kind === 'leaf' ? leaf(unit.name) : tree.composite(unit.name);
  if (node === undefined) return false;
  return unit.kind === 'leaf' ? isLeafUp(node) : isUp(node, MAX_LEVELS - 1);
}
