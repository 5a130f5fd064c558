import {
  type PlanQuestion,
  type PlanStep,
  type PlanTime,
  TIME_SOURCES,
  type TimeSource,
  type UnitTime,
} from './model.ts';

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
  const sources = new Map<string, TimeSource>();
  const sums = { seconds: 0, from: 0, to: 0 };
  let ranged = false;
  for (const [at, { completes, evictions }] of steps.entries()) {
    const next = new Set(steps[at + 1]?.evictions.map(({ unit }) => unit));
    const longest = { seconds: 0, from: 0, to: 0 };
    for (const { disrupts, unit } of evictions) {
      const time = times.get(unit) ?? UNKNOWN_TIME;
      const waits = disrupts || next.has(unit);
      const { from, seconds, to } = spanOf(time, waits);
      if (waits && isUnknown(time)) unknown.add(unit);
      if (waits && time.by !== undefined) sources.set(unit, time.by);
      if (waits && time.range !== undefined) ranged = true;
      longest.seconds = Math.max(longest.seconds, seconds);
      longest.from = Math.max(longest.from, from);
      longest.to = Math.max(longest.to, to);
    }
    const more = (evictions.length > 0 ? LOOK_SECONDS : 0) + (nodesReturn ? completes.length * nodeDowntimeSeconds : 0);
    for (const key of ['seconds', 'from', 'to'] as const) sums[key] += longest[key] + more;
  }
  return {
    seconds: sums.seconds,
    ...(ranged && { from: sums.from, to: sums.to }),
    unknown: [...unknown].sort(),
    ...(sources.size > 0 && { by: countBy([...sources.values()]) }),
  };
}

const isUnknown = ({ ready, recovery }: UnitTime): boolean => ready === undefined && recovery === undefined;

function spanOf({ place, range, ready = 0, recovery, stop }: UnitTime, waits: boolean) {
  if (!waits) return { seconds: stop, from: stop, to: stop };
  if (recovery !== undefined) return { seconds: recovery, from: recovery, to: recovery };
  const away = stop + place;
  return { seconds: away + ready, from: away + (range?.from ?? ready), to: away + (range?.to ?? ready) };
}

function countBy(sources: readonly TimeSource[]): Partial<Record<TimeSource, number>> {
  const known = TIME_SOURCES.map((source) => [source, sources.filter((one) => one === source).length] as const);
  return Object.fromEntries(known.filter(([, count]) => count > 0));
}

/** How long one unit is away, undefined where its start-up time is not known. */
export function secondsOf(time: UnitTime = UNKNOWN_TIME, disrupts: boolean): number | undefined {
  return disrupts && isUnknown(time) ? undefined : spanOf(time, disrupts).seconds;
}
