import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { Placed } from '../../placement/cluster/placed.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';

/** What a group of pods says about being disrupted. */
export interface GroupDisruption {
  /** `all`: losing one member is losing the group, so it goes or stays as a whole. */
  readonly mode: 'single' | 'all';
  /** The group's own priority, which rules over its members'. */
  readonly priority?: number | undefined;
  /** Set for a tree: all groups that go together. */
  readonly groups?: readonly string[] | undefined;
}

export type DisruptionOf = (group: string) => GroupDisruption | undefined;

/** Pods that are preempted together. */
export interface VictimUnit {
  readonly pods: readonly Placed[];
  readonly priority: number;
  readonly startedAt: number;
  readonly grouped: boolean;
}

/** Tells whether removing pods breaks a budget, and from then on counts them as removed. */
export type ChargeBudgets = (pods: readonly PodFacts[]) => boolean;

export function unitOf(placed: Placed, cluster: Cluster, disruptionOf: DisruptionOf): VictimUnit {
  const { group } = placed.pod;
  const disruption = group === undefined ? undefined : disruptionOf(group);
  const priority = disruption?.priority ?? placed.pod.priority;
  if (group === undefined || disruption?.mode !== 'all') {
    return { pods: [placed], priority, startedAt: placed.pod.startedAt, grouped: false };
  }
  const pods = (disruption.groups ?? [group]).flatMap((one) => cluster.membersOf(one));
  return { pods, priority, startedAt: Math.min(...pods.map(({ pod }) => pod.startedAt)), grouped: true };
}

/** Units of the given pods, each once, that are less important than `priority` and hold none of the spared groups. */
export function unitsBelow(
  candidates: Iterable<Placed>,
  cluster: Cluster,
  {
    disruptionOf,
    priority,
    spare = [],
  }: { disruptionOf: DisruptionOf; priority: number; spare?: readonly string[] | undefined },
): VictimUnit[] {
  const units: VictimUnit[] = [];
  const seen = new Set<string>();
  for (const placed of candidates) {
    const { group, uid } = placed.pod;
    if (seen.has(uid) || (group !== undefined && spare.includes(group))) continue;
    const unit = unitOf(placed, cluster, disruptionOf);
    for (const { pod } of unit.pods) seen.add(pod.uid);
    if (unit.priority < priority) units.push(unit);
  }
  return units;
}

/** Most important first: priority, a group before a pod, the larger, the older. */
export function compareImportance(a: VictimUnit, b: VictimUnit): number {
  return (
    b.priority - a.priority ||
    Number(b.grouped) - Number(a.grouped) ||
    b.pods.length - a.pods.length ||
    a.startedAt - b.startedAt
  );
}

/** Units whose loss breaks a budget come first, so that they are the first to be spared. */
export function orderForReprieve(
  units: readonly VictimUnit[],
  charge: ChargeBudgets,
): { readonly unit: VictimUnit; readonly violates: boolean }[] {
  const judged = units
    .toSorted(compareImportance)
    .map((unit) => ({ unit, violates: charge(unit.pods.map(({ pod }) => pod)) }));
  return [...judged.filter(({ violates }) => violates), ...judged.filter(({ violates }) => !violates)];
}
