import type { DisruptionTally } from './budget-tally.ts';
import type { CountedPod } from './pod-facts.ts';
import type { Unit } from './records.ts';

/** A group or single pod with what keeps it from being healthy. */
export interface ShortUnit {
  /** Undefined for a single pod. */
  readonly key: string | undefined;
  /** What people call it; undefined for a single pod. */
  readonly name: string | undefined;
  readonly healthy: number;
  readonly minCount: number;
  readonly members: number;
  /** The group its pods name cannot be resolved. */
  readonly unresolved?: boolean;
  readonly missing: readonly { readonly pod: CountedPod; readonly evicting: boolean }[];
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** The same words in every answer, in whatever order things were seen. */
export const byName = (a: ShortUnit, b: ShortUnit): number => compare(a.key ?? '', b.key ?? '');

/** Groups that selected pods name and that cannot be resolved: nobody knows how many pods they need. */
export function unresolvedUnits(tally: DisruptionTally): ShortUnit[] {
  const units = new Map<string, CountedPod[]>();
  for (const record of tally.matched) {
    const resolution = record.places?.get(tally.grouping)?.resolution;
    if (resolution?.kind !== 'broken') continue;
    const members = units.get(resolution.unit);
    if (members === undefined) units.set(resolution.unit, [record.facts]);
    else members.push(record.facts);
  }
  return [...units].map(([key, members]) => ({
    key,
    name: key,
    healthy: 0,
    minCount: members.length,
    members: members.length,
    unresolved: true,
    missing: members.map((pod) => ({ pod, evicting: false })),
  }));
}

export function describe(tally: DisruptionTally, unit: Unit): ShortUnit {
  const missing = [...unit.members.keys()]
    .map((record) => ({
      pod: record.facts,
      up: record.up,
      evicting: tally.matched.has(record) && tally.isClaimed(record),
    }))
    .filter(({ evicting, up }) => !up || evicting)
    .map(({ pod, evicting }) => ({ pod, evicting }))
    .sort((a, b) => compare(a.pod.name, b.pod.name));
  return {
    key: unit.key,
    name: tally.grouping.nameOf(unit),
    healthy: tally.healthyIn(unit),
    minCount: unit.minCount,
    members: unit.members.size,
    missing,
  };
}
