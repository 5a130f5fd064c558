import { confidenceOf } from '../placement/index.ts';
import { goesDown } from './account.ts';
import type { PlanPod, UnitEviction } from './model.ts';
import type { Move } from './moves.ts';
import type { Moved } from './room.ts';

/** What a step does with pods of a unit, and where they are expected to go. */
export function evictionOf(
  { unit }: Pick<Move, 'unit'>,
  pods: readonly PlanPod[],
  moved: readonly Moved[],
): UnitEviction {
  const where = moved.flatMap((one) => one.where);
  const names = new Map(pods.map(({ facts, id }) => [facts.uid, id]));
  const assumptions = moved.flatMap(({ confidence }) => (confidence.kind === 'exact' ? [] : confidence.list));
  const domain = moved.find((one) => one.domain !== undefined)?.domain;
  return {
    unit: unit.id,
    pods: pods.map(({ id }) => id),
    disrupts: goesDown(unit, pods.length),
    where: Object.fromEntries(where.map(({ node, pod }) => [names.get(pod.uid) ?? pod.uid, node])),
    ...(domain && { domain: domain.labels }),
    confidence: confidenceOf(assumptions),
  };
}
