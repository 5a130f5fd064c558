import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { controllerOf } from '../../../api/core/owner.ts';
import type { PodUnavailableBudget, TargetReference } from '../../../api/kruise/types.ts';
import type { LeaderWorkerSet } from '../../../api/lws/types.ts';
import { type UnavailabilityTally, type Expected, expectedSource } from '../../../decisions/unavailability/index.ts';
import type { FoundScale } from '../../shared/scale-lookup/index.ts';

export interface ExpectedSources {
  /** Scale of an owner; undefined when it is gone. Throws when the owner's kind has no scale. */
  readonly findScale: (owner: OwnerReference, namespace: string) => Promise<FoundScale | undefined>;
  /** A workload's wanted replicas by name; undefined when it is missing or going. */
  readonly replicasOf: (target: TargetReference, namespace: string) => Promise<number | undefined>;
  readonly leaderWorkerSet: (namespace: string, name: string) => LeaderWorkerSet | undefined;
  readonly pod: (namespace: string, name: string) => Pod | undefined;
  /** An owner without a scale takes one away, as OpenKruise has it, instead of counting as many as are seen. */
  readonly compat: boolean;
}

/** How many pods or groups a budget expects, by whoever `expectedSource` says to ask. */
export async function gatherExpected(
  budget: PodUnavailableBudget,
  tally: UnavailabilityTally,
  sources: ExpectedSources,
): Promise<Expected> {
  const { protectTotalReplicas = 0, targetRef = {} } = budget.spec ?? {};
  const namespace = budget.metadata.namespace ?? '';
  switch (expectedSource(budget.spec ?? {})) {
    case 'TotalReplicas':
      return { count: protectTotalReplicas, declared: true };
    case 'LeaderWorkerSets':
      return expectedOfSets(namespace, tally, sources);
    case 'SeenGroups':
      return { count: tally.seenGroups, declared: false };
    case 'TargetGroups':
      return { count: (await sources.replicasOf(targetRef, namespace)) ?? 0, declared: true };
    case 'TargetScale': {
      const replicas = (await sources.replicasOf(targetRef, namespace)) ?? 0;
      return { count: replicas * podsPerReplica(targetRef, namespace, sources), declared: true };
    }
    case 'OwnerScales':
      return expectedOfOwners(namespace, tally, sources);
  }
}

/** A LeaderWorkerSet's replicas are groups of pods; OpenKruise sees only the leader of each. */
function podsPerReplica({ kind, name = '' }: TargetReference, namespace: string, sources: ExpectedSources): number {
  if (kind !== 'LeaderWorkerSet' || sources.compat) return 1;
  return sources.leaderWorkerSet(namespace, name)?.spec?.leaderWorkerTemplate?.size ?? 1;
}

function expectedOfSets(namespace: string, tally: UnavailabilityTally, { leaderWorkerSet }: ExpectedSources): Expected {
  const names = new Set(tally.groups().map(({ identity }) => identity.slice(0, identity.lastIndexOf('/'))));
  const sets = [...names].flatMap((name) => leaderWorkerSet(namespace, name) ?? []);
  // With no set left to ask, what is seen is all there is to go by.
  if (sets.length === 0 && names.size > 0) return { count: tally.seenGroups, declared: false };
  return { count: sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 1), 0), declared: true };
}

async function expectedOfOwners(
  namespace: string,
  tally: UnavailabilityTally,
  sources: ExpectedSources,
): Promise<Expected> {
  const owners = new Map<string, { owner: OwnerReference; active: number }>();
  for (const { name, active } of tally.pods.values()) {
    const pod = sources.pod(namespace, name);
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (owner === undefined) continue;
    const known = owners.get(owner.uid) ?? { owner, active: 0 };
    known.active += active ? 1 : 0;
    owners.set(owner.uid, known);
  }
  const scales = new Map<string, number>();
  let declared = true;
  for (const { owner, active } of owners.values()) {
    try {
      const found = await sources.findScale(owner, namespace);
      if (found !== undefined) scales.set(found.uid, found.scale);
    } catch {
      // The owner's kind has no scale: its pods count as they are seen, and the budget says so.
      scales.set(owner.uid, sources.compat ? -1 : active);
      declared = sources.compat && declared;
    }
  }
  return { count: [...scales.values()].reduce((sum, scale) => sum + scale, 0), declared };
}
