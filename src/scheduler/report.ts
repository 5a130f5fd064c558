/** Everything the scheduler says to users, in one place. */
import { type GroupTerms, type GroupTree, isTreePlaced } from '../decisions/gang/index.ts';
import type { SchedulerDeps } from './deps.ts';
import type { KnownPod } from './pod-book.ts';
import type { GroupReason } from './status-writer.ts';

type Reporters = Pick<SchedulerDeps, 'events' | 'status'>;

/** A pod found no node: an event and the PodScheduled condition say why. */
export function reportFailure(deps: Reporters, known: KnownPod, message: string): void {
  deps.events.record(known.pod, 'Warning', 'FailedScheduling', message);
  deps.status.unscheduled(known.facts.uid, { reason: 'Unschedulable', message });
}

/** An attempt could not be made: the objects contradict each other. */
export function reportError(deps: Reporters, known: KnownPod, message: string): void {
  deps.events.record(known.pod, 'Warning', 'FailedScheduling', message);
  deps.status.unscheduled(known.facts.uid, { reason: 'SchedulerError', message });
}

export function reportBound(deps: Reporters, known: KnownPod): void {
  const { name, namespace } = known.facts;
  const message = `Successfully assigned ${namespace}/${name} to ${known.node ?? ''}`;
  deps.events.record(known.pod, 'Normal', 'Scheduled', message);
}

export function reportGroup(deps: Reporters, { podGroup }: GroupTerms, reason: GroupReason, message: string): void {
  if (podGroup !== undefined) deps.status.group(podGroup, reason, message);
}

/** Composites whose groups have their places now; of the others there is no news. */
export function reportPlaced(deps: Pick<SchedulerDeps, 'book' | 'status'>, { composites }: GroupTree): void {
  const placed = (leaf: string): number =>
    deps.book.members(leaf).filter(({ standing }) => standing !== 'pending').length;
  for (const composite of composites) {
    if (!isTreePlaced(composite, placed)) continue;
    const { children, needed, object } = composite;
    const have = children.filter((child) => isTreePlaced(child, placed)).length;
    deps.status.composite(object, 'Scheduled', `${have} of ${children.length} groups were placed, ${needed} needed`);
  }
}

/** All groups of a tree, whose pods found no place together. */
export function reportTree(deps: Reporters, tree: GroupTree, reason: GroupReason, message: string): void {
  for (const { terms } of tree.leaves) reportGroup(deps, terms, reason, message);
  for (const { object } of tree.composites) deps.status.composite(object, reason, message);
}
