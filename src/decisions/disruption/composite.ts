import type { CompositeFacts, PodGroupFacts, UnitTree } from './group-facts.ts';

/** Levels of a tree that validation lets through, the leaf included; beyond it a chain is a loop or a mistake. */
const MAX_LEVELS = 4;

export type TreeFault = 'CompositePodGroupNotFound' | 'TooManyLevels';

export type TreeUnit =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'composite'; readonly composite: CompositeFacts }
  | { readonly kind: 'broken'; readonly reason: TreeFault };

/** The highest ancestor that fails as one is the unit; where none does, the leaf is. */
export function unitInTree(
  { parent: first }: Pick<PodGroupFacts, 'parent'>,
  lookup: { composite(name: string): CompositeFacts | undefined },
): TreeUnit {
  let unit: TreeUnit = { kind: 'leaf' };
  let parent = first;
  for (let level = 2; parent !== undefined; level += 1) {
    if (level > MAX_LEVELS) return { kind: 'broken', reason: 'TooManyLevels' };
    const composite = lookup.composite(parent);
    if (composite === undefined) return { kind: 'broken', reason: 'CompositePodGroupNotFound' };
    if (composite.whole) unit = { kind: 'composite', composite };
    ({ parent } = composite);
  }
  return unit;
}

/** How long a group that went as one still does after its objects are gone: they may be made again in a moment. */
export const LAST_KNOWN_MS = 30_000;

/** What is disrupted as one: a PodGroup, or all PodGroups below a composite. */
export interface OneOfGroups {
  /** KIND/NAME. */
  readonly name: string;
  readonly podGroups: readonly string[];
}

/** What says that the pods of a PodGroup go together, by the objects as they are; undefined where nothing does. */
export function oneOf(
  group: PodGroupFacts,
  lookup: {
    composite(name: string): CompositeFacts | undefined;
    podGroupsBelow(composite: string): readonly string[];
  },
): OneOfGroups | undefined {
  const place = unitInTree(group, lookup);
  if (place.kind === 'composite') {
    const { name } = place.composite;
    return { name: `CompositePodGroup/${name}`, podGroups: lookup.podGroupsBelow(name) };
  }
  return group.whole ? { name: `PodGroup/${group.name}`, podGroups: [group.name] } : undefined;
}

export interface TreeChildren {
  readonly groups: readonly PodGroupFacts[];
  readonly composites: readonly CompositeFacts[];
}

export interface TreeSource {
  childrenOf(composite: string): TreeChildren;
  /** Pods a leaf needs; one where nothing says more. */
  minimumOf(group: PodGroupFacts): number;
}

export function buildTree({ name, needed }: CompositeFacts, source: TreeSource, level = MAX_LEVELS): UnitTree {
  const { composites, groups } = source.childrenOf(name);
  const leaves = groups.map((group): UnitTree => {
    return { kind: 'leaf', name: group.name, minCount: source.minimumOf(group) };
  });
  const below = level <= 2 ? [] : composites.map((child) => buildTree(child, source, level - 1));
  return { kind: 'composite', needed, children: [...leaves, ...below] };
}

/**
 * The fewest pods that must become Ready until the tree is available; zero where it is. A leaf is available with enough
 * healthy pods, a composite with enough available children. A sum of pods over the tree would not do: surplus in one
 * group does not make up for another that is down.
 */
export function distanceOf(tree: UnitTree, healthy: (leaf: string) => number): number {
  if (tree.kind === 'leaf') return Math.max(0, tree.minCount - healthy(tree.name));
  const distances = tree.children.map((child) => distanceOf(child, healthy)).sort((a, b) => a - b);
  const cheapest = distances.slice(0, tree.needed).reduce((sum, distance) => sum + distance, 0);
  // Children that are not there yet: as large as the largest that is.
  const absent = Math.max(0, tree.needed - tree.children.length);
  return cheapest + (absent === 0 ? 0 : absent * Math.max(1, ...tree.children.map(minimumOfTree)));
}

/** Pods the tree needs when none is there. */
export function minimumOfTree(tree: UnitTree): number {
  return Math.max(
    1,
    distanceOf(tree, () => 0),
  );
}
