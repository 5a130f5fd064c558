import type { CompositePodGroup } from '../../../api/generated/scheduling-v1alpha3.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { StoredPodGroup } from '../../../api/scheduling/index.ts';
import type { GroupLink } from '../../disruption/index.ts';
import type { GroupQuestion, LeafQuestion } from '../placement/place-group.ts';
import type { GroupDisruption } from '../preemption/victim-unit.ts';
import { admitGroup, type GroupAdmission } from './admission.ts';
import { findTerms, groupIdOf, type GroupsOfNamespace, type GroupTerms, type TermsAnswer } from './terms.ts';

/** The group objects of one namespace, with those that hold groups together. */
export interface TreeObjects extends GroupsOfNamespace {
  composite(name: string): CompositePodGroup | undefined;
  childrenOf(composite: string): {
    readonly groups: readonly StoredPodGroup[];
    readonly composites: readonly CompositePodGroup[];
  };
}

export interface LeafTerms {
  readonly kind: 'leaf';
  /** Names the group within a scheduler. */
  readonly id: string;
  readonly terms: GroupTerms;
}

export interface CompositeTerms {
  readonly kind: 'composite';
  readonly name: string;
  /** Children that must have their place: `minGroupCount` of a gang, one of a basic group. */
  readonly needed: number;
  /** Everything below shares one value of this node label. */
  readonly topologyKey: string | undefined;
  readonly mode: GroupDisruption['mode'];
  readonly children: readonly TermsTree[];
  /** Shows how the groups fare. */
  readonly object: CompositePodGroup;
}

export type TermsTree = LeafTerms | CompositeTerms;

/** What is scheduled as one: a group, or the whole tree that it is part of. */
export interface GroupTree {
  readonly name: string;
  /** The root composite; undefined for a group on its own. */
  readonly root: string | undefined;
  readonly tree: TermsTree;
  readonly leaves: readonly LeafTerms[];
  readonly composites: readonly CompositeTerms[];
  /** Of the root, which rule over those of its groups. */
  readonly priority: number | undefined;
  readonly preemptionPolicy: string | undefined;
}

export type TreeAnswer =
  | { readonly reason: 'Found'; readonly group: GroupTree }
  | Exclude<TermsAnswer, { readonly reason: 'Found' }>;

/** Levels of a tree, the leaf included. */
export const MAX_LEVELS = 4;

/** Follows a pod's link to its group, and the group to the root of its tree. */
export function findTree(link: GroupLink, namespace: string, objects: TreeObjects): TreeAnswer {
  const answer = findTerms(link, objects);
  if (answer.reason !== 'Found') return answer;
  const { terms } = answer;
  let parent = terms.podGroup?.spec.parentCompositePodGroupName;
  if (parent === undefined) {
    const leaf: LeafTerms = { kind: 'leaf', id: groupIdOf(namespace, link), terms };
    const { name, preemptionPolicy, priority } = terms;
    const group = { name, root: undefined, tree: leaf, leaves: [leaf], composites: [], priority, preemptionPolicy };
    return { reason: 'Found', group };
  }
  let root: CompositePodGroup | undefined;
  for (let level = 2; parent !== undefined; level += 1) {
    if (level > MAX_LEVELS) {
      const message = `PodGroup "${terms.name}" is in a tree of more than ${MAX_LEVELS} levels, or in one without end`;
      return { reason: 'CompositePodGroupMissing', message };
    }
    root = objects.composite(parent);
    if (root === undefined) {
      return { reason: 'CompositePodGroupMissing', message: `CompositePodGroup "${parent}" does not exist` };
    }
    parent = root.spec?.parentCompositePodGroupName;
  }
  return root === undefined
    ? { reason: 'CompositePodGroupMissing', message: 'its tree has no root' }
    : { reason: 'Found', group: readTree(root, namespace, objects) };
}

/** The tree below a root. Groups whose terms cannot be found are left out: they cannot have their place. */
export function readTree(root: CompositePodGroup, namespace: string, objects: TreeObjects): GroupTree {
  const leaves: LeafTerms[] = [];
  const read: CompositeTerms[] = [];
  const { preemptionPolicy, priority } = root.spec ?? {};
  const readComposite = (composite: CompositePodGroup, level: number): TermsTree => {
    const { composites, groups } = objects.childrenOf(composite.metadata.name ?? '');
    const children = [...groups, ...(level <= 2 ? [] : composites)].sort(byAge).flatMap((child): TermsTree[] => {
      if (isComposite(child)) return [readComposite(child, level - 1)];
      const leaf = leafOf(child, namespace, objects);
      if (leaf === undefined) return [];
      const ruled = { ...leaf, terms: { ...leaf.terms, priority, preemptionPolicy } };
      leaves.push(ruled);
      return [ruled];
    });
    const { disruptionMode, schedulingConstraints, schedulingPolicy } = composite.spec ?? {};
    const terms: CompositeTerms = {
      kind: 'composite',
      name: composite.metadata.name ?? '',
      needed: Math.max(1, schedulingPolicy?.gang?.minGroupCount ?? 1),
      topologyKey: schedulingConstraints?.topology?.[0]?.key,
      mode: disruptionMode?.all === undefined ? 'single' : 'all',
      children,
      object: composite,
    };
    read.push(terms);
    return terms;
  };
  const tree = readComposite(root, MAX_LEVELS);
  const name = root.metadata.name ?? '';
  return { name, root: name, tree, leaves, composites: read, priority, preemptionPolicy };
}

function leafOf({ metadata }: StoredPodGroup, namespace: string, objects: GroupsOfNamespace): LeafTerms | undefined {
  const link = { source: 'SchedulingGroup', workload: '', podGroup: metadata.name ?? '', replicaKey: '' } as const;
  const answer = findTerms(link, objects);
  return answer.reason === 'Found' ? { kind: 'leaf', id: groupIdOf(namespace, link), terms: answer.terms } : undefined;
}

type Child = StoredPodGroup | CompositePodGroup;

const isComposite = (child: Child): child is CompositePodGroup => child.kind === 'CompositePodGroup';

/** Oldest first, then by name. */
function byAge({ metadata: a }: Child, { metadata: b }: Child): number {
  const [first, second] = [a, b].map(({ creationTimestamp = '', name = '' }) => `${creationTimestamp}/${name}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

/**
 * Whether a tree may be tried: no member has a scheduling gate, and enough of its groups have enough members, from the
 * leaves up. `members` are all pods of a leaf that have not finished.
 */
export function admitTree({ leaves, tree }: GroupTree, members: (leaf: string) => readonly Pod[]): GroupAdmission {
  const answers = new Map(leaves.map(({ id, terms }) => [id, admitGroup(terms, members(id))]));
  const gated = [...answers.values()].find(({ reason }) => reason === 'SchedulingGated');
  if (gated !== undefined) return gated;
  const check = (node: TermsTree): GroupAdmission => {
    if (node.kind === 'leaf') return answers.get(node.id) ?? { reason: 'Admitted' };
    const waiting = node.children.map(check).filter(({ reason }) => reason !== 'Admitted');
    const ready = node.children.length - waiting.length;
    if (ready >= node.needed) return { reason: 'Admitted' };
    const [first] = waiting;
    const why = first === undefined || first.reason === 'Admitted' ? '' : `: ${first.message}`;
    const message = `CompositePodGroup "${node.name}" has ${ready} of at least ${node.needed} complete groups${why}`;
    return { reason: 'WaitingForMembers', message };
  };
  return check(tree);
}

/** The question to ask for a place, with what is known of each leaf. */
export function askTree(tree: TermsTree, leafQuestion: (leaf: LeafTerms) => LeafQuestion): GroupQuestion {
  if (tree.kind === 'leaf') return leafQuestion(tree);
  const { children, name, needed, topologyKey } = tree;
  const below = children.map((child) => askTree(child, leafQuestion));
  return { kind: 'composite', name, needed, topologyKey, children: below };
}

/** Whether enough groups have enough members with a place, from the leaves up. */
export function isTreePlaced(tree: TermsTree, placed: (leaf: string) => number): boolean {
  if (tree.kind === 'leaf') return placed(tree.id) >= tree.terms.needed;
  return tree.children.filter((child) => isTreePlaced(child, placed)).length >= tree.needed;
}

/** What goes together with a leaf: everything below the highest composite that goes as one, or the leaf as it says. */
export function disruptionIn({ priority, tree }: GroupTree, leaf: LeafTerms): GroupDisruption {
  const find = (node: TermsTree): TermsTree | undefined => {
    if (node.kind === 'leaf') return node.id === leaf.id ? node : undefined;
    const below = node.children.map(find).find((one) => one !== undefined);
    return below !== undefined && node.mode === 'all' ? node : below;
  };
  const unit = find(tree);
  if (unit === undefined || unit.kind === 'leaf') return { ...leaf.terms.disruption, priority };
  return { mode: 'all', priority, groups: leavesOf(unit) };
}

const leavesOf = (tree: TermsTree): string[] => (tree.kind === 'leaf' ? [tree.id] : tree.children.flatMap(leavesOf));
