import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { Placed } from '../../placement/cluster/placed.ts';
import { costOf } from '../../group-cost/index.ts';
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
  /** What its annotations say that its loss costs. */
  readonly cost: number;
}

/** Tells whether removing pods breaks a budget, and from then on counts them as removed. */
export type ChargeBudgets = (pods: readonly PodFacts[]) => boolean;

export function unitOf(
  placed: Placed,
  cluster: Cluster,
  { disruptionOf, now = 0 }: { disruptionOf: DisruptionOf; now?: number | undefined },
): VictimUnit {
  const { group } = placed.pod;
  const disruption = group === undefined ? undefined : disruptionOf(group);
  const priority = disruption?.priority ?? placed.pod.priority;
  if (group === undefined || disruption?.mode !== 'all') {
    const { startedAt } = placed.pod;
    return { pods: [placed], priority, startedAt, grouped: false, cost: costOfPods([placed], startedAt, now) };
  }
  const pods = (disruption.groups ?? [group]).flatMap((one) => cluster.membersOf(one));
  const startedAt = Math.min(...pods.map(({ pod }) => pod.startedAt));
  return { pods, priority, startedAt, grouped: true, cost: costOfPods(pods, startedAt, now) };
}

function costOfPods(pods: readonly Placed[], startedAt: number, now: number): number {
  return costOf({ members: pods.map(({ pod }) => pod.pod.metadata.annotations), startedAt, now }).cost;
}

/** Units of the given pods, each once, that are less important than `priority` and hold none of the spared groups. */
export function unitsBelow(
  candidates: Iterable<Placed>,
  cluster: Cluster,
  {
    disruptionOf,
    now,
    priority,
    spare = [],
  }: {
    disruptionOf: DisruptionOf;
    priority: number;
    spare?: readonly string[] | undefined;
    now?: number | undefined;
  },
): VictimUnit[] {
  const units: VictimUnit[] = [];
  const seen = new Set<string>();
  for (const placed of candidates) {
    const { group, uid } = placed.pod;
    if (seen.has(uid) || (group !== undefined && spare.includes(group))) continue;
    const unit = unitOf(placed, cluster, { disruptionOf, now });
    for (const { pod } of unit.pods) seen.add(pod.uid);
    if (unit.priority < priority) units.push(unit);
  }
  return units;
}

/** Most important first: priority, what its loss costs, a group before a pod, the larger, the older. */
export function compareImportance(a: VictimUnit, b: VictimUnit): number {
  return (
    b.priority - a.priority ||
    b.cost - a.cost ||
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
