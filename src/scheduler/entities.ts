import type { KnownPod } from './pod-book.ts';

/** A pod of a group waits with its group; any other pod waits alone. */
export function entityKeyOf({ facts, group }: KnownPod): string {
  return group === undefined ? `pod:${facts.uid}` : `group:${group}`;
}

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
