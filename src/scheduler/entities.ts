import type { GroupTree } from '../decisions/gang/index.ts';
import type { KnownPod } from './pod-book.ts';

/** A pod of a group waits with its group, one of a tree with the tree; any other pod waits alone. */
export function entityKeyOf(known: KnownPod, treeOf: (known: KnownPod) => GroupTree | undefined): string {
  const group = entityGroupOf(known, treeOf);
  return group === undefined ? `pod:${known.facts.uid}` : `group:${group}`;
}

/** The group that is tried as one: the pod's own, or the root of its tree as `namespace//name`. */
export function entityGroupOf(known: KnownPod, treeOf: (known: KnownPod) => GroupTree | undefined): string | undefined {
  const root = known.group === undefined ? undefined : treeOf(known)?.root;
  return root === undefined ? known.group : rootId(known.facts.namespace, root);
}

export const rootId = (namespace: string, root: string): string => `${namespace}//${root}`;

/** Pending pods in the order a group tries them: the important, the often tried, the oldest. */
export function inTurn(pods: readonly KnownPod[]): KnownPod[] {
  return pods.toSorted(
    (a, b) =>
      b.facts.priority - a.facts.priority ||
      b.attempts - a.attempts ||
      a.since - b.since ||
      (a.facts.name < b.facts.name ? -1 : a.facts.name > b.facts.name ? 1 : 0),
  );
}
