import { deepEqual } from '../../machinery/values/index.ts';
import type { GroupLookup } from './group-facts.ts';
import { setGroupOf } from './group-markers.ts';
import { type GroupBy, groupById, resolvePod } from './group-by.ts';
import type { Family, Place, PodPlacer, PodRecord, Unit } from './records.ts';
import { SmallMap } from './small-map.ts';
import type { Resolution } from './resolve.ts';

/** Group objects that change, and tell when. */
export interface LiveGroups extends GroupLookup {
  /** Moves with every change that may make an answer another one. */
  readonly revision: number;
}

/** The units of one namespace under one way of grouping. All pods of the namespace are members, selected or not. */
export class Grouping implements PodPlacer {
  readonly groupBy: GroupBy | undefined;
  readonly id: string;
  readonly #lookup: LiveGroups;
  readonly #units = new Map<string, Unit>();
  readonly #families = new Map<string, Family>();
  /** Units with members of a group of a LeaderWorkerSet, by that group. */
  readonly #ofSetGroup = new Map<string, Map<Unit, number>>();

  constructor(groupBy: GroupBy | undefined, lookup: LiveGroups) {
    this.groupBy = groupBy;
    this.id = groupById(groupBy);
    this.#lookup = lookup;
  }

  place(record: PodRecord): void {
    const resolution = resolvePod(this.groupBy, record.facts, this.#lookup);
    if (resolution === undefined) return;
    const unit = resolution.kind === 'gang' ? this.#join(record, resolution) : undefined;
    (record.places ??= new SmallMap<PodPlacer, Place>()).set(this, placeIn(unit, resolution));
  }

  unplace(record: PodRecord): void {
    const place = record.places?.get(this);
    const unit = place?.unit;
    record.places?.delete(this);
    if (unit === undefined) return;
    const asked = unit.members.get(record);
    unit.members.delete(record);
    this.#noteSetGroup(record, unit, -1);
    unit.family.replicas = undefined;
    if (record.up) countUp(unit, leafOf(place), -1);
    if (unit.members.size === 0) {
      this.#removeUnit(unit);
      return;
    }
    if (asked === unit.minCount) unit.minCount = Math.max(...unit.members.values());
    touch(unit);
  }

  setUp(record: PodRecord, up: boolean): void {
    const place = record.places?.get(this);
    const unit = place?.unit;
    if (unit === undefined) return;
    countUp(unit, leafOf(place), up ? 1 : -1);
    touch(unit);
  }

  /** Names of the budgets that count a family. */
  *budgetsOver(family: string): Generator<string> {
    for (const { facts } of this.#families.get(family)?.tallies.keys() ?? []) yield facts.name;
  }

  /** Replicas the family should have: as declared, else as many as there are. */
  replicasOf(family: Family): number {
    const { revision } = this.#lookup;
    // PodGroup objects come and go without touching any pod.
    if (family.replicas?.revision !== revision) family.replicas = { count: this.#countReplicas(family), revision };
    return family.replicas.count;
  }

  /**
   * What a unit is called, in every answer about it. The PodGroup of a LeaderWorkerSet's group is replaced together with
   * its pods; people and plans know the group by its place in the set, which stays.
   */
  nameOf(unit: Unit): string {
    const members = livingMembers(unit);
    const first = members[0];
    const name = first && setGroupOf(first.facts.labels);
    if (name === undefined || members.some(({ facts }) => setGroupOf(facts.labels) !== name)) return unit.key;
    for (const other of this.#ofSetGroup.get(name)?.keys() ?? []) {
      const isAlive = livingMembers(other).some(({ facts }) => facts.deletionTimestamp === undefined);
      // Leader and workers may be groups of their own.
      if (other !== unit && isAlive) return unit.key;
    }
    return name;
  }

  #noteSetGroup(record: PodRecord, unit: Unit, by: 1 | -1): void {
    const name = setGroupOf(record.facts.labels);
    if (name === undefined) return;
    const units = this.#ofSetGroup.get(name) ?? new Map<Unit, number>();
    const count = (units.get(unit) ?? 0) + by;
    if (count > 0) units.set(unit, count);
    else units.delete(unit);
    if (units.size > 0) this.#ofSetGroup.set(name, units);
    else this.#ofSetGroup.delete(name);
  }

  #countReplicas(family: Family): number {
    for (const unit of family.units) {
      for (const member of unit.members.keys()) {
        const resolution = resolvePod(this.groupBy, member.facts, this.#lookup);
        if (resolution?.kind === 'gang') return resolution.replicas ?? family.units.size;
      }
    }
    return family.units.size;
  }

  #join(record: PodRecord, gang: Extract<Resolution, { kind: 'gang' }>): Unit {
    let family = this.#families.get(gang.family);
    if (family === undefined) {
      family = { key: gang.family, units: new Set(), tallies: new Map(), replicas: undefined };
      this.#families.set(gang.family, family);
    }
    family.replicas = undefined;
    let unit = this.#units.get(gang.unit);
    const isNew = unit === undefined;
    const { tree, whole = false } = gang;
    unit ??= {
      key: gang.unit,
      family,
      members: new Map(),
      up: 0,
      minCount: gang.minCount,
      whole,
      tree: undefined,
      place: undefined,
    };
    unit.whole = whole;
    if (tree !== undefined) unit.tree = { needs: tree.needs, up: unit.tree?.up ?? new Map() };
    unit.members.set(record, gang.minCount);
    this.#noteSetGroup(record, unit, 1);
    unit.minCount = Math.max(unit.minCount, gang.minCount);
    if (record.up) countUp(unit, tree?.leaf, 1);
    if (isNew) {
      this.#units.set(gang.unit, unit);
      family.units.add(unit);
      for (const tally of family.tallies.keys()) tally.unitAdded(unit);
    } else touch(unit);
    return unit;
  }

  #removeUnit(unit: Unit): void {
    this.#units.delete(unit.key);
    unit.family.units.delete(unit);
    for (const tally of unit.family.tallies.keys()) tally.unitRemoved(unit);
    if (unit.family.units.size === 0) this.#families.delete(unit.family.key);
  }
}

/** One object for all members with the same place: there may be a hundred thousand. */
function placeIn(unit: Unit | undefined, resolution: Resolution): Place {
  if (unit?.place !== undefined && deepEqual(unit.place.resolution, resolution)) return unit.place;
  const place = { resolution, unit };
  if (unit !== undefined) unit.place = place;
  return place;
}

/** The group of a pod within a unit of several. */
export function leafOf(place: Place | undefined): string | undefined {
  return place?.resolution.kind === 'gang' ? place.resolution.tree?.leaf : undefined;
}

function countUp(unit: Unit, leaf: string | undefined, by: 1 | -1): void {
  unit.up += by;
  if (leaf !== undefined) unit.tree?.up.set(leaf, (unit.tree.up.get(leaf) ?? 0) + by);
}

function touch(unit: Unit): void {
  for (const tally of unit.family.tallies.keys()) tally.unitTouched(unit);
}

/** The members that are not on their way out; all of them where none stays. */
function livingMembers({ members }: Unit): PodRecord[] {
  const all = [...members.keys()];
  const staying = all.filter(({ facts }) => facts.deletionTimestamp === undefined);
  return staying.length > 0 ? staying : all;
}
