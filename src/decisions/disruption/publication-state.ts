import { parseTime } from '../../machinery/values/index.ts';
import { computeAllowed, computeDesired } from './arithmetic.ts';
import { DISRUPTION_TIMEOUT_MS } from './budget-facts.ts';
import type { DisruptionTally } from './budget-tally.ts';
import type { PublicationState, Shortage, UnitState } from './publication.ts';
import { toldReplicas } from './group-by.ts';
import type { PodRecord, Unit } from './records.ts';

export interface PublicationQuestion {
  /** `disruptedPods` of the budget's own status: what the API server has counted. */
  readonly disruptedPods: Readonly<Record<string, string>> | undefined;
  /** Whether more than one budget selects a pod; the API server then answers by itself. */
  readonly isShared: (record: PodRecord) => boolean;
  readonly now: number;
}

interface Counts {
  individual: number;
  ready: number;
  outstanding: number;
  unready: number;
  pods: number;
  readonly takeable: Map<Unit, number>;
  /** Members that the API server counts as gone and that no grant tells of. */
  readonly counted: Map<Unit, PodRecord[]>;
}

/** Walks the pods of a budget over groups. */
export function readPublicationState(tally: DisruptionTally, question: PublicationQuestion): PublicationState {
  const counts = countPods(tally, question);
  const healthyIn = (unit: Unit): number => tally.healthyIn(unit, { gone: counts.counted.get(unit) ?? [] });
  const alsoDown = [...counts.counted.keys()].filter(
    (unit) => !tally.down.has(unit) && healthyIn(unit) < unit.minCount,
  );
  const expected = tally.expectedUnits;
  const desired = computeDesired(tally.facts, expected);
  const available = tally.availableUnits - alsoDown.length;
  // Where the controller could not count, no group is given away.
  const isCounted = tally.facts.status.disruptionAllowed?.reason !== 'SyncFailed';
  const units = [...counts.takeable].map(([unit, takeable]): UnitState => {
    return { healthy: healthyIn(unit), minCount: unit.minCount, takeable, whole: unit.whole };
  });
  return {
    expected,
    available,
    desired,
    mayGoDown: isCounted ? computeAllowed(available, desired, expected) : 0,
    alwaysAllow: tally.facts.alwaysAllow,
    units,
    individual: counts.individual,
    ready: counts.ready,
    outstanding: counts.outstanding,
    unready: counts.unready,
    pods: counts.pods,
    shortages: () => [
      ...[...tally.down, ...alsoDown].map((unit) => ({ groups: 1, pods: unit.minCount - healthyIn(unit) })),
      ...absentGroups(tally),
    ],
  };
}

function countPods(tally: DisruptionTally, { disruptedPods = {}, isShared, now }: PublicationQuestion): Counts {
  const counts: Counts = {
    individual: 0,
    ready: 0,
    outstanding: 0,
    unready: 0,
    pods: 0,
    takeable: new Map(),
    counted: new Map(),
  };
  for (const record of tally.matched) {
    const { deletionTimestamp, name, phase } = record.facts;
    const isFinished = phase === 'Succeeded' || phase === 'Failed';
    if (!isFinished) counts.pods += 1;
    if (deletionTimestamp !== undefined) continue;
    const place = record.places?.get(tally.grouping);
    const unit = place?.unit;
    const isGranted = tally.isClaimed(record);
    if (isNoted(record, disruptedPods[name], now)) {
      if (record.up && !isGranted && unit !== undefined) {
        counts.counted.set(unit, [...(counts.counted.get(unit) ?? []), record]);
      }
      continue;
    }
    // Where its group cannot be resolved a pod is refused.
    const isAsked = !isFinished && place?.resolution.kind !== 'broken' && !isShared(record);
    if (!record.up) {
      if (isAsked && phase === 'Running') counts.unready += 1;
      continue;
    }
    counts.ready += 1;
    if (isGranted) counts.outstanding += 1;
    else if (isAsked && unit !== undefined) add(counts.takeable, unit);
    else if (isAsked) counts.individual += 1;
  }
  return counts;
}

/** Whether the API server has counted the eviction of this pod; an older entry concerns a pod of the same name before it. */
export function isNoted({ facts }: PodRecord, entry: string | undefined, now: number): boolean {
  if (entry === undefined) return false;
  const at = parseTime(entry) ?? 0;
  return at + DISRUPTION_TIMEOUT_MS > now && at >= (parseTime(facts.createdAt) ?? 0);
}

/** Groups that are declared and not there, with what each would need by its family. */
function absentGroups({ facts, families, grouping }: DisruptionTally): Shortage[] {
  const needOf = (units: Iterable<Unit>): number => Math.max(1, ...[...units].map(({ minCount }) => minCount));
  const told = toldReplicas(facts.groupBy);
  if (told !== undefined) {
    const units = [...families.keys()].flatMap((family) => [...family.units]);
    return [{ groups: Math.max(0, told - units.length), pods: needOf(units) }];
  }
  return [...families.keys()].map((family) => {
    return { groups: Math.max(0, grouping.replicasOf(family) - family.units.size), pods: needOf(family.units) };
  });
}

function add(counts: Map<Unit, number>, unit: Unit): void {
  counts.set(unit, (counts.get(unit) ?? 0) + 1);
}
