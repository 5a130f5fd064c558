import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { type BudgetFacts, DISRUPTION_TIMEOUT_MS } from './budget-facts.ts';
import { type Claims, isClaimedBy } from './claims.ts';
import { distanceOf } from './composite.ts';
import { decideMode, type Mode, type PodClasses } from './mode.ts';
import { toldReplicas } from './group-by.ts';
import type { BrokenReason } from './resolve.ts';
import type { Family, PodRecord, Unit, UnitWatcher } from './records.ts';
import { type Grouping, leafOf } from './unit-index.ts';

export interface OwnerTally {
  readonly owner: OwnerReference;
  pods: number;
  grouped: number;
  bare: number;
}

const NO_CLAIMS: Claims = new Map();

/** The counts of one budget, kept with every event. */
export class DisruptionTally implements UnitWatcher {
  facts: BudgetFacts;
  grouping: Grouping;
  readonly matched = new Set<PodRecord>();
  /** Matched pods that are not up. */
  readonly notUp = new Set<PodRecord>();
  readonly unmanaged = new Set<PodRecord>();
  readonly owners = new Map<string, OwnerTally>();
  readonly families = new Map<Family, number>();
  /** Groups of the families that are not available. */
  readonly down = new Set<Unit>();
  readonly #broken = new Map<BrokenReason, number>();
  readonly #brokenUnits = new Map<string, number>();
  /** Approved evictions that still count, as of `#asOf`; pod name to approval time. */
  readonly #pending = new Map<string, number>();
  /** Grants of a ledger, which name the very pod. */
  #granted: Claims = NO_CLAIMS;
  /** The pods that are up and do not count because of either. */
  readonly #claimed = new Set<PodRecord>();
  readonly #claims = new Map<Unit, number>();
  readonly #find: (podName: string) => PodRecord | undefined;
  #asOf = Number.NEGATIVE_INFINITY;
  #nextExpiry = Number.POSITIVE_INFINITY;
  #units = 0;
  #grouped = 0;
  #basic = 0;
  #bare = 0;
  #partlyLinked = 0;

  constructor(facts: BudgetFacts, grouping: Grouping, find: (podName: string) => PodRecord | undefined) {
    this.facts = facts;
    this.grouping = grouping;
    this.#find = find;
  }

  get mode(): Mode {
    return decideMode(this.facts, this.#classes);
  }

  /** What it would count had it settled: pods where not all groups can be resolved. */
  get settledMode(): Mode {
    return decideMode(this.facts, this.#classes, { settled: true });
  }

  get #classes(): PodClasses {
    return {
      grouped: this.#grouped,
      basic: this.#basic,
      bare: this.#bare,
      broken: this.#broken,
      partlyLinked: this.#partlyLinked > 0,
    };
  }

  /** Selected pods that name a group, resolvable or not. */
  get linkedPods(): number {
    return this.matched.size - this.#bare;
  }

  get healthyPods(): number {
    return this.matched.size - this.notUp.size - this.#claimed.size;
  }

  get availableUnits(): number {
    return this.#units - this.down.size;
  }

  /**
   * Replicas declared by the families, or by the budget for all of them together; under a scope of groups also what cannot be resolved, and while that settles no
   * fewer than were last published.
   */
  get expectedUnits(): number {
    let expected = this.families.size === 0 ? 0 : toldReplicas(this.facts.groupBy);
    if (expected === undefined) {
      expected = 0;
      for (const family of this.families.keys()) expected += this.grouping.replicasOf(family);
    }
    if (this.mode.settling !== undefined) return Math.max(expected, this.facts.status.expectedPods);
    return this.facts.scope === 'PodGroup' ? expected + this.#brokenUnits.size + this.#bare + this.#basic : expected;
  }

  /**
   * Members that are up and stay, `gone` left out and `spared` counted in although it was let pass. A unit that goes as one
   * has no spare members, and is down as soon as one goes; one of several groups is as far below its minimum as pods
   * are missing.
   */
  healthyIn(unit: Unit, { gone = [], spared }: { gone?: readonly PodRecord[]; spared?: PodRecord | undefined } = {}) {
    const isBack = spared !== undefined && this.#claimed.has(spared);
    const lost = (this.#claims.get(unit) ?? 0) + gone.length - (isBack ? 1 : 0);
    if (!unit.whole) return unit.up - lost;
    const healthy = unit.tree === undefined ? unit.up - lost : this.#healthyInTree(unit, unit.tree, { gone, spared });
    return Math.min(healthy, lost > 0 ? unit.minCount - 1 : unit.minCount);
  }

  #healthyInTree(
    unit: Unit,
    { needs, up }: NonNullable<Unit['tree']>,
    { gone, spared }: { gone: readonly PodRecord[]; spared: PodRecord | undefined },
  ): number {
    const lost = new Map<string, number>();
    const lose = (record: PodRecord): void => {
      const place = record.places?.get(this.grouping);
      const leaf = place?.unit === unit && record !== spared ? leafOf(place) : undefined;
      if (leaf !== undefined) lost.set(leaf, (lost.get(leaf) ?? 0) + 1);
    };
    if (this.#claims.has(unit)) this.#claimed.forEach(lose);
    gone.forEach(lose);
    return unit.minCount - distanceOf(needs, (leaf) => (up.get(leaf) ?? 0) - (lost.get(leaf) ?? 0));
  }

  /** Pods that are up and do not count, because their eviction was let pass. */
  get claimed(): ReadonlySet<PodRecord> {
    return this.#claimed;
  }

  isClaimed({ facts: { name, uid } }: PodRecord): boolean {
    return this.#pending.has(name) || isClaimedBy(this.#granted, name, uid);
  }

  add(record: PodRecord): void {
    this.matched.add(record);
    if (!record.up) this.notUp.add(record);
    const { owner } = record.facts;
    const place = record.places?.get(this.grouping);
    let tally: OwnerTally | undefined;
    if (owner === undefined) this.unmanaged.add(record);
    else {
      tally = this.owners.get(owner.uid);
      if (tally === undefined) this.owners.set(owner.uid, (tally = { owner, pods: 0, grouped: 0, bare: 0 }));
      tally.pods += 1;
    }
    this.#classify(record, tally, 1);
    const family = place?.unit?.family;
    if (family !== undefined) this.#joinFamily(family);
    this.#settleClaim(record, record.up);
  }

  remove(record: PodRecord): void {
    this.#settleClaim(record, false);
    const family = record.places?.get(this.grouping)?.unit?.family;
    if (family !== undefined) this.#leaveFamily(family);
    this.matched.delete(record);
    this.notUp.delete(record);
    this.unmanaged.delete(record);
    const { owner } = record.facts;
    const tally = owner === undefined ? undefined : this.owners.get(owner.uid);
    this.#classify(record, tally, -1);
    if (tally !== undefined && (tally.pods -= 1) === 0) this.owners.delete(tally.owner.uid);
  }

  setUp(record: PodRecord, up: boolean): void {
    if (up) this.notUp.delete(record);
    else this.notUp.add(record);
    this.#settleClaim(record, up);
  }

  unitAdded(unit: Unit): void {
    this.#units += 1;
    this.unitTouched(unit);
  }

  unitRemoved(unit: Unit): void {
    this.#units -= 1;
    this.down.delete(unit);
    this.#claims.delete(unit);
  }

  unitTouched(unit: Unit): void {
    if (this.healthyIn(unit) >= unit.minCount) this.down.delete(unit);
    else this.down.add(unit);
  }

  /** Takes over new facts whose spec and annotations are those of before. */
  setStatus(facts: BudgetFacts): void {
    const { claims = NO_CLAIMS, disruptedPods } = facts.status;
    const before = this.#granted;
    this.facts = facts;
    this.#granted = claims;
    this.#nextExpiry = Number.POSITIVE_INFINITY;
    for (const name of this.#pending.keys()) {
      if (disruptedPods.has(name)) continue;
      this.#pending.delete(name);
      this.#settleName(name);
    }
    for (const [name, at] of disruptedPods) {
      const counts = this.#waitFor(at + DISRUPTION_TIMEOUT_MS);
      const known = this.#pending.has(name);
      if (counts) this.#pending.set(name, at);
      else this.#pending.delete(name);
      if (counts !== known) this.#settleName(name);
    }
    if (before === claims) return;
    for (const name of claims.keys()) this.#settleName(name);
    for (const name of before.keys()) if (!claims.has(name)) this.#settleName(name);
  }

  /** Brings the counts to this moment: an approval older than the timeout counts no more. */
  moveTo(now: number): void {
    const backwards = now < this.#asOf;
    this.#asOf = now;
    if (backwards || now >= this.#nextExpiry) this.setStatus(this.facts);
  }

  /** False for what counts no longer. */
  #waitFor(expiry: number): boolean {
    if (expiry <= this.#asOf) return false;
    this.#nextExpiry = Math.min(this.#nextExpiry, expiry);
    return true;
  }

  #settleName(name: string): void {
    const record = this.#find(name);
    if (record !== undefined && this.matched.has(record)) this.#settleClaim(record, record.up);
  }

  /** An approved eviction takes a pod that is up out of the count; one that is not up was never in it. */
  #settleClaim(record: PodRecord, up: boolean): void {
    const claimed = up && this.isClaimed(record);
    if (claimed === this.#claimed.has(record)) return;
    if (claimed) this.#claimed.add(record);
    else this.#claimed.delete(record);
    const unit = record.places?.get(this.grouping)?.unit;
    if (unit === undefined) return;
    const claims = (this.#claims.get(unit) ?? 0) + (claimed ? 1 : -1);
    if (claims === 0) this.#claims.delete(unit);
    else this.#claims.set(unit, claims);
    this.unitTouched(unit);
  }

  #joinFamily(family: Family): void {
    const pods = this.families.get(family) ?? 0;
    this.families.set(family, pods + 1);
    family.tallies.set(this, pods + 1);
    if (pods === 0) for (const unit of family.units) this.unitAdded(unit);
  }

  #leaveFamily(family: Family): void {
    const pods = (this.families.get(family) ?? 1) - 1;
    if (pods > 0) {
      this.families.set(family, pods);
      family.tallies.set(this, pods);
      return;
    }
    this.families.delete(family);
    family.tallies.delete(this);
    for (const unit of family.units) this.unitRemoved(unit);
  }

  #classify(record: PodRecord, owner: OwnerTally | undefined, by: 1 | -1): void {
    const place = record.places?.get(this.grouping);
    const wasPartly = owner !== undefined && owner.grouped > 0 && owner.bare > 0;
    switch (place?.resolution.kind) {
      case undefined:
        this.#bare += by;
        if (owner !== undefined) owner.bare += by;
        break;
      case 'basic':
        this.#basic += by;
        break;
      case 'gang':
        this.#grouped += by;
        if (owner !== undefined) owner.grouped += by;
        break;
      case 'broken':
        step(this.#broken, place.resolution.reason, by);
        step(this.#brokenUnits, place.resolution.unit, by);
    }
    const isPartly = owner !== undefined && owner.grouped > 0 && owner.bare > 0;
    this.#partlyLinked += Number(isPartly) - Number(wasPartly);
  }
}

function step<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
