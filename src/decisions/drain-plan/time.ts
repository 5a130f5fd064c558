import type { PlanQuestion, PlanStep, PlanTime, UnitTime } from './model.ts';

/** What a pod has until it is killed, where it does not say. */
const GRACE_SECONDS = 30;
/** From a pod being made to its having a node. */
const PLACE_SECONDS = 2;
/** Between two steps. */
const LOOK_SECONDS = 1;

export const UNKNOWN_TIME: UnitTime = { stop: GRACE_SECONDS, place: PLACE_SECONDS };

/**
 * A step takes as long as its slowest unit: until its pods are gone and, where the unit went down or the next step takes
 * more of it, until it serves again. Nodes that come back are waited for one after the other.
 */
export function timeOf(
  steps: readonly PlanStep[],
  { nodeDowntimeSeconds = 0, nodesReturn, units }: Pick<PlanQuestion, 'units' | 'nodesReturn' | 'nodeDowntimeSeconds'>,
): PlanTime {
  const times = new Map(units.map(({ id, time = UNKNOWN_TIME }) => [id, time]));
  const unknown = new Set<string>();
  const sums = { seconds: 0, from: 0, to: 0 };
  let ranged = false;
  for (const [at, { completes, evictions }] of steps.entries()) {
    const next = new Set(steps[at + 1]?.evictions.map(({ unit }) => unit));
    const longest = { seconds: 0, from: 0, to: 0 };
    for (const { disrupts, unit } of evictions) {
      const { place, ready, stop, range } = times.get(unit) ?? UNKNOWN_TIME;
      const waits = disrupts || next.has(unit);
      if (waits && ready === undefined) unknown.add(unit);
      const start = (seconds: number): number => stop + (waits ? place + seconds : 0);
      if (waits && range !== undefined) ranged = true;
      longest.seconds = Math.max(longest.seconds, start(ready ?? 0));
      longest.from = Math.max(longest.from, start(range?.from ?? ready ?? 0));
      longest.to = Math.max(longest.to, start(range?.to ?? ready ?? 0));
    }
    const more = (evictions.length > 0 ? LOOK_SECONDS : 0) + (nodesReturn ? completes.length * nodeDowntimeSeconds : 0);
    for (const key of ['seconds', 'from', 'to'] as const) sums[key] += longest[key] + more;
  }
  return {
    seconds: sums.seconds,
    ...(ranged && { from: sums.from, to: sums.to }),
    unknown: [...unknown].sort(),
  };
}

/** How long one unit is away, undefined where its start-up time is not known. */
export function secondsOf(time: UnitTime | undefined, disrupts: boolean): number | undefined {
  const { place, ready, stop } = time ?? UNKNOWN_TIME;
  if (!disrupts) return stop;
  return ready === undefined ? undefined : stop + place + ready;
}
