import { fitsGroup, tellAnswer } from '../placement/index.ts';
import type { PlanQuestion, PlanStep } from './model.ts';
import { Room } from './room.ts';

/**
 * Asks again, right before a step, whether all of it still finds places, one unit after the other. Answers the units that
 * do not, each with what binds; the question is the cluster as it is now, with the nodes closed that are still to go.
 */
export function findUnfit(question: PlanQuestion, step: PlanStep): { unit: string; text: string }[] {
  const room = new Room(question);
  const unfit: { unit: string; text: string }[] = [];
  const units = new Map(question.units.map((unit) => [unit.id, unit]));
  const pods = new Map(question.pods.map((pod) => [pod.id, pod]));
  for (const { pods: ids, unit: id } of step.evictions) {
    const going = ids.flatMap((pod) => pods.get(pod) ?? []);
    const unit = units.get(going[0]?.unit ?? id);
    if (unit === undefined || going.length === 0) continue;
    const part = { unit, pods: going };
    if (room.move(part) !== undefined) continue;
    const answer = room.ask(part, (ask) => fitsGroup(ask, question.cluster));
    unfit.push({ unit: id, text: tellAnswer(answer) });
  }
  room.rollback();
  return unfit;
}
