import type { Node } from '../../../api/generated/core-v1.ts';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

export interface ZonePolicy {
  /** Nodes per second and zone that may be given an evicting taint. */
  readonly evictionRate: number;
  /** The rate in a large zone that is partly down. */
  readonly secondaryRate: number;
  /** Zones with no more nodes than this are not evicted from at all while partly down. */
  readonly largeZoneNodes: number;
  /** Share of nodes down from which a zone counts as partly down. */
  readonly unhealthyShare: number;
}

export const defaultZonePolicy: ZonePolicy = {
  evictionRate: 0.1,
  secondaryRate: 0.01,
  largeZoneNodes: 50,
  unhealthyShare: 0.55,
};

export function zoneOf({ metadata }: Node): string {
  const { labels = {} } = metadata;
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  return `${region}/${zone}`;
}

export interface ZoneCount {
  readonly ready: number;
  readonly unready: number;
}

export function zoneState({ ready, unready }: ZoneCount, { unhealthyShare }: ZonePolicy): ZoneState {
  if (ready === 0 && unready > 0) return 'FullDisruption';
  if (unready > 2 && unready / (ready + unready) >= unhealthyShare) return 'PartialDisruption';
  return 'Normal';
}

/**
 * How many nodes per second may be evicted from, per zone. When every zone is wholly down the fault is more likely
 * here than there, and nothing is evicted.
 */
export function evictionRates(zones: ReadonlyMap<string, ZoneCount>, policy: ZonePolicy): Map<string, number> {
  const states = new Map([...zones].map(([zone, count]) => [zone, zoneState(count, policy)]));
  const allDown = states.size > 0 && [...states.values()].every((state) => state === 'FullDisruption');
  return new Map(
    [...zones].map(([zone, { ready, unready }]) => {
      if (allDown) return [zone, 0];
      if (states.get(zone) !== 'PartialDisruption') return [zone, policy.evictionRate];
      return [zone, ready + unready > policy.largeZoneNodes ? policy.secondaryRate : 0];
    }),
  );
}
