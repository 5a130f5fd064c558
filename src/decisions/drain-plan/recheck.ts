import { fitsGroup, tellAnswer } from '../placement/index.ts';
import { exchangeInAnyOrder } from './exchange.ts';
import type { PlanQuestion, PlanStep } from './model.ts';
import { type Part, Room } from './room.ts';

/** What has no place any more, with what binds. */
interface Unfit {
  readonly unit: string;
  readonly text: string;
}

interface NamedPart extends Part {
  readonly id: string;
}

/**
 * Asks again, right before a step, whether all of it still finds places, one unit after the other or, where they go into
 * each other's room, all at once. Answers the units that do not, each with what binds; the question is the cluster as it
 * is now, with the nodes closed that are still to go.
 */
export function findUnfit(question: PlanQuestion, step: PlanStep): Unfit[] {
  const room = new Room(question);
  const units = new Map(question.units.map((unit) => [unit.id, unit]));
  const pods = new Map(question.pods.map((pod) => [pod.id, pod]));
  const parts = step.evictions.flatMap(({ pods: ids, unit: id }): NamedPart[] => {
    const going = ids.flatMap((pod) => pods.get(pod) ?? []);
    const unit = units.get(going[0]?.unit ?? id);
    return unit === undefined || going.length === 0 ? [] : [{ id, unit, pods: going }];
  });
  const unfit = step.exchange === true ? unfitTogether(parts, room, question) : unfitInTurn(parts, room, question);
  room.rollback();
  return unfit;
}

function unfitInTurn(parts: readonly NamedPart[], room: Room, { cluster }: PlanQuestion): Unfit[] {
  return parts.flatMap((part) => {
    if (room.move(part) !== undefined) return [];
    return { unit: part.id, text: room.ask(part, (ask) => tellAnswer(fitsGroup(ask, cluster))) };
  });
}

function unfitTogether(parts: readonly NamedPart[], room: Room, { cluster }: PlanQuestion): Unfit[] {
  if (exchangeInAnyOrder(parts, room) !== undefined) return [];
  const answers = room.askAmong(parts, (asks) => asks.map((ask) => fitsGroup(ask, cluster)));
  const alone = parts.flatMap(({ id }, at) => {
    const answer = answers[at];
    return answer === undefined || answer.fits === 'Yes' ? [] : [{ unit: id, text: tellAnswer(answer) }];
  });
  // Each finds a place by itself, and not beside the others.
  return alone.length > 0
    ? alone
    : parts.map(({ id }) => ({ unit: id, text: 'NoRoom: not while all the others move as well' }));
}
