import { type Clock, wallTimeOf } from '../machinery/runtime/index.ts';
import type { Observation } from './observe.ts';
import { dueOf, type Stage, stageMatches } from './stage.ts';

/** When each stage that matches began to match, as elapsed time. Kept between looks at a pod. */
export type MatchedSince = ReadonlyMap<string, number>;

export interface NextStep {
  readonly stage: Stage;
  readonly due: number;
}

export interface Picked {
  readonly step: NextStep | undefined;
  readonly since: MatchedSince;
}

/** The step that is due first among the stages that match; on a tie the earlier row of the table. */
export function pickStage(
  stages: readonly Stage[],
  { facts, moments }: Observation,
  {
    before,
    clock,
    draw,
  }: { before: MatchedSince; draw: (stage: string) => number; clock: Pick<Clock, 'elapsed' | 'now'> },
): Picked {
  const since = new Map<string, number>();
  let step: NextStep | undefined;
  for (const stage of stages) {
    if (!stageMatches(stage, facts)) continue;
    const from = before.get(stage.name) ?? clock.elapsed();
    since.set(stage.name, from);
    const due = dueOf(stage, wallTimeOf(clock, from), moments, draw);
    if (step === undefined || due < step.due) step = { stage, due };
  }
  return { step, since };
}
