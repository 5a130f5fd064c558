import { findNode, preemptForPod } from '../decisions/gang/index.ts';
import type { SchedulerDeps } from './deps.ts';
import { carryOutPreemption } from './carry-out-preemption.ts';
import type { Entity } from './entity.ts';
import type { KnownPod } from './pod-book.ts';
import { reportFailure } from './report.ts';

/** One attempt to place a pod that belongs to no group. */
export function schedulePod(deps: SchedulerDeps, entity: Entity, known: KnownPod): void {
  if ((known.pod.spec?.schedulingGates?.length ?? 0) > 0) {
    deps.queue.hold(entity);
    return;
  }
  known.attempts += 1;
  const { diagnosis, node } = findNode(known.facts, deps.cluster);
  if (node !== undefined) {
    deps.queue.remove(entity.key);
    deps.book.assume(known, node.name);
    deps.permit.pass(known);
    return;
  }
  const answer = preemptForPod(known.facts, diagnosis, deps.preemption);
  deps.queue.park(entity, diagnosis.filters);
  if (answer.reason === 'Preempt') {
    carryOutPreemption(deps, {
      nominations: [{ pod: known.facts, node: answer.node }],
      victims: answer.victims,
      by: `pod ${known.facts.uid}`,
    });
    reportFailure(deps, known, diagnosis.message);
    return;
  }
  if (answer.reason === 'NoVictims') withdrawPromise(deps, known);
  reportFailure(deps, known, `${diagnosis.message} ${answer.message}`.trim());
}

/** The promised node will not do any more, and nothing better was found. */
function withdrawPromise({ cluster, status }: SchedulerDeps, { facts }: KnownPod): void {
  if (cluster.nomination(facts.uid) === undefined) return;
  cluster.withdrawNomination(facts.uid);
  status.nominated(facts.uid, '');
}
