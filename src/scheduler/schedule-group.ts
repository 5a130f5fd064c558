import {
  admitTree,
  askTree,
  checkMembers,
  findTree,
  type GroupPlacement,
  type GroupQuestion,
  type GroupTree,
  type LeafQuestion,
  placeGroup,
  podsOf,
  preemptForGroup,
  readTree,
  type TreeAnswer,
} from '../decisions/gang/index.ts';
import { carryOutPreemption } from './carry-out-preemption.ts';
import type { SchedulerDeps } from './deps.ts';
import { inTurn } from './entities.ts';
import { holdGroup } from './hold-group.ts';
import type { Entity } from './entity.ts';
import type { KnownPod } from './pod-book.ts';
import { reportError, reportFailure, reportGroup, reportPlaced, reportTree } from './report.ts';
import { requeuePod } from './watches.ts';

/**
 * One attempt to place a group, or all groups of a tree.
 *
 *  1. follow the chain of objects and count the members; a group that is not complete is held, without an attempt
 *  2. members that contradict each other are an error
 *  3. place all or none of what is needed; what does not fit beyond that goes straight back in line
 *  4. a group without room makes room if it may, and rests
 */
export function scheduleGroup(deps: SchedulerDeps, entity: Entity, id: string): void {
  const answer = findGroup(deps, id);
  if (answer === undefined) {
    deps.queue.remove(entity.key);
    return;
  }
  if (answer.reason !== 'Found') {
    holdGroup(deps, entity, { pending: readyIn(deps, [id]), message: answer.message });
    return;
  }
  const { group } = answer;
  if (group.root !== undefined && group.root !== rootOf(id)) {
    joinTree(deps, entity, id);
    return;
  }
  const leaves = group.leaves.map((leaf) => leaf.id);
  const pending = readyIn(deps, leaves);
  if (pending.length === 0) {
    deps.queue.remove(entity.key);
    return;
  }
  const membersOf = (leaf: string) => deps.book.members(leaf).map(({ pod }) => pod);
  const admission = admitTree(group, membersOf);
  if (admission.reason !== 'Admitted') {
    const gated = admission.reason === 'SchedulingGated';
    holdGroup(deps, entity, { pending: gated ? [] : pending, message: admission.message, group });
    return;
  }
  for (const known of pending) known.attempts += 1;
  if (entity.failedAt === deps.queue.epoch) {
    deps.queue.retry(entity, pending.length);
    return;
  }
  const verdict = checkMembers(group, leaves.flatMap(membersOf));
  if (verdict.reason !== 'Consistent') {
    reportTree(deps, group, 'SchedulerError', verdict.message);
    for (const known of pending) reportError(deps, known, verdict.message);
    deps.queue.retry(entity, pending.length);
    return;
  }
  place(deps, entity, { group, pending });
}

/** The root that an entity of a tree is named after. */
const rootOf = (id: string): string | undefined => id.split('//')[1];

/** The tree of an entity, or the group its pods name; undefined where there is nothing left to try. */
function findGroup({ book, groups }: SchedulerDeps, id: string): TreeAnswer | undefined {
  const [namespace = '', root] = id.split('//');
  if (root !== undefined) {
    const composite = groups.in(namespace).composite(root);
    const isRoot = composite !== undefined && composite.spec?.parentCompositePodGroupName === undefined;
    return isRoot ? { reason: 'Found', group: readTree(composite, namespace, groups.in(namespace)) } : undefined;
  }
  const [member] = book.members(id);
  if (member?.link === undefined) return undefined;
  return findTree(member.link, member.facts.namespace, groups.in(member.facts.namespace));
}

/** A group that has become part of a tree since it was put in line waits with the tree. */
function joinTree(deps: SchedulerDeps, entity: Entity, group: string): void {
  deps.queue.remove(entity.key);
  for (const known of readyIn(deps, [group])) requeuePod(deps, known);
}

function readyIn(deps: SchedulerDeps, groups: readonly string[]): KnownPod[] {
  const members = groups.flatMap((group) => deps.book.members(group));
  return inTurn(members.filter((known) => isReadyToPlace(known, deps)));
}

interface Candidates {
  readonly group: GroupTree;
  readonly pending: readonly KnownPod[];
}

function place(deps: SchedulerDeps, entity: Entity, { group, pending }: Candidates): void {
  const question = askTree(group.tree, ({ id, terms }): LeafQuestion => {
    const placed = deps.book.members(id).filter(({ standing }) => standing !== 'pending');
    return {
      kind: 'leaf',
      name: terms.name,
      needed: terms.needed,
      scheduled: placed.length,
      pods: pending.filter((known) => known.group === id).map(({ facts }) => facts),
      topologyKey: terms.topologyKey,
      scheduledOn: placed.map(({ node }) => node ?? ''),
    };
  });
  const answer = placeGroup(question, deps.cluster);
  if (answer.reason === 'Scheduled') succeed(deps, entity, { answer, group });
  else fail(deps, entity, { answer, question, group });
}

function succeed(
  deps: SchedulerDeps,
  entity: Entity,
  { answer, group }: { answer: GroupPlacement; group: GroupTree },
): void {
  deps.queue.succeed(entity);
  if (answer.leftOut.length > 0) deps.queue.requeue(entity);
  else deps.queue.remove(entity.key);
  const placed: KnownPod[] = [];
  for (const { node, pod } of answer.placements) {
    const known = deps.book.get(pod.uid);
    if (known === undefined) continue;
    deps.book.assume(known, node);
    placed.push(known);
  }
  // All have their place before the first is bound.
  for (const known of placed) deps.permit.pass(known);
  for (const { id, terms } of group.leaves) {
    deps.permit.review(id);
    const here = placed.filter((known) => known.group === id).length;
    // A group of a tree that had nothing to place, or no room beyond what its tree needs, has no news.
    if (here === 0) continue;
    const total = here + answer.leftOut.filter(({ pod }) => pod.group === id).length;
    reportGroup(deps, terms, 'Scheduled', `${here} of ${total} pending pods were placed, ${terms.needed} needed`);
  }
  reportPlaced(deps, group);
}

function fail(
  deps: SchedulerDeps,
  entity: Entity,
  { answer, group, question }: { answer: GroupPlacement; question: GroupQuestion; group: GroupTree },
): void {
  const name = entity.group ?? '';
  const groups = group.leaves.map(({ id }) => id);
  const priority = group.priority ?? entity.priority;
  const preemption = preemptForGroup(question, { group: name, groups, priority }, deps.preemption);
  let { message } = answer;
  if (preemption.reason === 'Preempt') {
    carryOutPreemption(deps, { ...preemption, by: `pod group ${name.replace('//', '/')}` });
    message = `${message} Waiting for ${preemption.victims.length} less important pods to make room.`;
  } else if (deps.cluster.hasBelow(priority)) {
    message = `${message} ${preemption.message}`;
  }
  deps.queue.retry(entity, podsOf(question).length);
  if (preemption.reason === 'NoVictims') entity.failedAt = deps.queue.epoch;
  reportTree(deps, group, 'Unschedulable', message);
  for (const { pod } of answer.leftOut) {
    const known = deps.book.get(pod.uid);
    if (known !== undefined) reportFailure(deps, known, message);
  }
}

function isReadyToPlace({ pod, standing }: KnownPod, { schedulerName }: SchedulerDeps): boolean {
  return (
    standing === 'pending' &&
    !pod.metadata.deletionTimestamp &&
    (pod.spec?.schedulerName ?? 'default-scheduler') === schedulerName
  );
}
