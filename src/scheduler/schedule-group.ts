import {
  admitGroup,
  checkMembers,
  findTerms,
  type GroupPlacement,
  type GroupTerms,
  type LeafQuestion,
  placeGroup,
  preemptForGroup,
} from '../decisions/gang/index.ts';
import { carryOutPreemption } from './carry-out-preemption.ts';
import type { SchedulerDeps } from './deps.ts';
import { inTurn } from './entities.ts';
import { holdGroup } from './hold-group.ts';
import type { Entity } from './entity.ts';
import type { KnownPod } from './pod-book.ts';
import { reportError, reportFailure, reportGroup } from './report.ts';

/**
 * One attempt to place a group.
 *
 *  1. follow the chain of objects and count the members; a group that is not complete is held, without an attempt
 *  2. members that contradict each other are an error
 *  3. place all or none of what is needed; what does not fit beyond that goes straight back in line
 *  4. a group without room makes room if it may, and rests
 */
export function scheduleGroup(deps: SchedulerDeps, entity: Entity, group: string): void {
  const members = deps.book.members(group);
  const pending = inTurn(members.filter((known) => isReadyToPlace(known, deps)));
  const [first] = pending;
  if (first?.link === undefined) {
    deps.queue.remove(entity.key);
    return;
  }
  const answer = findTerms(first.link, deps.groups.in(first.facts.namespace));
  if (answer.reason !== 'Found') {
    holdGroup(deps, entity, { pending, message: answer.message, terms: undefined });
    return;
  }
  const { terms } = answer;
  const pods = members.map(({ pod }) => pod);
  const admission = admitGroup(terms, pods);
  if (admission.reason !== 'Admitted') {
    const gated = admission.reason === 'SchedulingGated';
    holdGroup(deps, entity, { pending: gated ? [] : pending, message: admission.message, terms });
    return;
  }
  for (const known of pending) known.attempts += 1;
  if (entity.failedAt === deps.queue.epoch) {
    deps.queue.retry(entity, pending.length);
    return;
  }
  const verdict = checkMembers(terms, pods);
  if (verdict.reason !== 'Consistent') {
    reportGroup(deps, terms, 'SchedulerError', verdict.message);
    for (const known of pending) reportError(deps, known, verdict.message);
    deps.queue.retry(entity, pending.length);
    return;
  }
  place(deps, entity, { terms, members, pending });
}

interface Candidates {
  readonly terms: GroupTerms;
  readonly members: readonly KnownPod[];
  readonly pending: readonly KnownPod[];
}

function place(deps: SchedulerDeps, entity: Entity, { members, pending, terms }: Candidates): void {
  const placed = members.filter(({ standing }) => standing !== 'pending');
  const question: LeafQuestion = {
    kind: 'leaf',
    name: terms.name,
    needed: terms.needed,
    scheduled: placed.length,
    pods: pending.map(({ facts }) => facts),
    topologyKey: terms.topologyKey,
    scheduledOn: placed.map(({ node }) => node ?? ''),
  };
  const answer = placeGroup(question, deps.cluster);
  if (answer.reason === 'Scheduled') succeed(deps, entity, { answer, terms });
  else fail(deps, entity, { answer, question, terms });
}

function succeed(
  deps: SchedulerDeps,
  entity: Entity,
  { answer, terms }: { answer: GroupPlacement; terms: GroupTerms },
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
  if (entity.group !== undefined) deps.permit.review(entity.group);
  const total = placed.length + answer.leftOut.length;
  reportGroup(
    deps,
    terms,
    'Scheduled',
    `${placed.length} of ${total} pending pods were placed, ${terms.needed} needed`,
  );
}

function fail(
  deps: SchedulerDeps,
  entity: Entity,
  { answer, question, terms }: { answer: GroupPlacement; question: LeafQuestion; terms: GroupTerms },
): void {
  const group = entity.group ?? '';
  const priority = terms.priority ?? entity.priority;
  const preemption = preemptForGroup(question, { group, priority }, deps.preemption);
  let { message } = answer;
  if (preemption.reason === 'Preempt') {
    carryOutPreemption(deps, { ...preemption, by: `pod group ${group}` });
    message = `${message} Waiting for ${preemption.victims.length} less important pods to make room.`;
  } else if (deps.cluster.hasBelow(priority)) {
    message = `${message} ${preemption.message}`;
  }
  deps.queue.retry(entity, question.pods.length);
  if (preemption.reason === 'NoVictims') entity.failedAt = deps.queue.epoch;
  reportGroup(deps, terms, 'Unschedulable', message);
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
