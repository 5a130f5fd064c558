import type { BudgetFacts } from './budget-facts.ts';
import type { UnitTree } from './group-facts.ts';
import type { SmallMap } from './small-map.ts';
import type { CountedPod } from './pod-facts.ts';
import type { Resolution } from './resolve.ts';

/** One pod of the index. Objects of this kind are compared by identity. */
export interface PodRecord {
  facts: CountedPod;
  /** Ready and not going. */
  up: boolean;
  /** Its place in each grouping it has one in; undefined for the many pods without any. */
  places: SmallMap<PodPlacer, Place> | undefined;
}

export interface Place {
  readonly resolution: Resolution;
  /** Set for gangs only. */
  readonly unit: Unit | undefined;
}

export interface Unit {
  readonly key: string;
  readonly family: Family;
  /** Each member with the minimum it asks for; they agree unless markers are inconsistent, then the largest counts. */
  readonly members: Map<PodRecord, number>;
  /** Members that are up. */
  up: number;
  minCount: number;
  /** It goes as one. */
  whole: boolean;
  /** Set for a unit of several groups: what it needs, and how many members of each group are up. */
  tree: { needs: UnitTree; readonly up: Map<string, number> } | undefined;
  /** That of the member which came last: most members of a unit have the same. */
  place: Place | undefined;
}

export interface Family {
  readonly key: string;
  readonly units: Set<Unit>;
  /** Budgets that select a pod of this family, with how many. */
  readonly tallies: Map<UnitWatcher, number>;
  /** Replicas it should have, as of a revision of the group objects; undefined since a member came or went. */
  replicas: { readonly count: number; readonly revision: number } | undefined;
}

/** A way of grouping pods; a pod has at most one place in each. */
export interface PodPlacer {
  place(record: PodRecord): void;
  unplace(record: PodRecord): void;
  /** A pod came up or went down without moving. */
  setUp(record: PodRecord, up: boolean): void;
}

/** A budget, as the units it counts see it. */
export interface UnitWatcher {
  readonly facts: BudgetFacts;
  unitAdded(unit: Unit): void;
  unitRemoved(unit: Unit): void;
  unitTouched(unit: Unit): void;
}
