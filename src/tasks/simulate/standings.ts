/** Which groups serve, kept up to date pod by pod: who looks every second cannot look at a whole fleet. */
import type { Pod } from '../../api/generated/core-v1.ts';
import { isPodFinished } from '../../api/core/pod-state.ts';
import { setGroupOf } from '../../decisions/disruption/index.ts';
import { idOf, UnitFinder, type UnitSources } from '../../decisions/drain-question/index.ts';
import { isReady } from '../../decisions/unavailability/index.ts';

export interface GroupStanding {
  readonly up: boolean;
  readonly budgets: readonly string[];
}

interface KnownPod {
  readonly pod: Pod;
  readonly ready: boolean;
  readonly pending: boolean;
}

export class Standings {
  readonly #sources: UnitSources;
  readonly #pods = new Map<string, KnownPod>();
  /** The pods of each group of a LeaderWorkerSet, of each PodGroup, and of each unit. */
  readonly #ofSet = new Map<string, Set<string>>();
  readonly #ofGang = new Map<string, Set<string>>();
  readonly #ofUnit = new Map<string, Set<string>>();
  readonly #unitOf = new Map<string, string>();
  readonly #groups = new Map<string, GroupStanding>();
  readonly #changed = new Set<string>();
  #ready = 0;
  #pending = 0;

  constructor(sources: UnitSources) {
    this.#sources = sources;
  }

  get counts(): { readonly ready: number; readonly total: number; readonly pending: number } {
    return { total: this.#pods.size, ready: this.#ready, pending: this.#pending };
  }

  setPod(pod: Pod): void {
    const id = idOf(pod);
    this.#forget(id);
    this.#changed.add(id);
    if (isPodFinished(pod)) return;
    const known = { pod, ready: isReady(pod), pending: !pod.spec?.nodeName };
    this.#pods.set(id, known);
    this.#ready += known.ready ? 1 : 0;
    this.#pending += known.pending ? 1 : 0;
    add(this.#ofSet, setOf(pod), id);
    add(this.#ofGang, gangOf(pod), id);
  }

  deletePod(id: string): void {
    this.#forget(id);
    this.#changed.add(id);
  }

  /** What says which pods belong together has changed in a namespace. */
  regroup(namespace: string): void {
    for (const [id, { pod }] of this.#pods) if (pod.metadata.namespace === namespace) this.#changed.add(id);
  }

  /** The same, for the pods that name a PodGroup. */
  regroupGang(namespace: string, name: string): void {
    for (const id of this.#ofGang.get(`${namespace}/${name}`) ?? []) this.#changed.add(id);
  }

  /** The same, for pods that are in no group yet. */
  regroupLoners(namespace: string): void {
    for (const [id, unit] of this.#unitOf) if (id === unit && id.startsWith(`${namespace}/`)) this.#changed.add(id);
  }

  uids(): Map<string, string | undefined> {
    return new Map([...this.#pods].map(([id, { pod }]) => [id, pod.metadata.uid]));
  }

  /** Whether a unit serves; undefined where it has no pod. */
  serves(unit: string, now: number): boolean | undefined {
    return this.groups(now).get(unit)?.up ?? this.#pods.get(unit)?.ready;
  }

  /** Every group that has pods; a pod of its own is none. */
  groups(now: number): ReadonlyMap<string, GroupStanding> {
    if (this.#changed.size === 0) return this.#groups;
    const finder = new UnitFinder(this.#sources, this.#involved(), now);
    const touched = new Set<string>();
    for (const id of this.#changed) {
      const before = this.#unitOf.get(id);
      if (before !== undefined) {
        touched.add(before);
        this.#ofUnit.get(before)?.delete(id);
        this.#unitOf.delete(id);
      }
      const known = this.#pods.get(id);
      if (known === undefined) continue;
      const unit = finder.unitOf(known.pod).id;
      this.#unitOf.set(id, unit);
      if (unit === id) continue;
      add(this.#ofUnit, unit, id);
      touched.add(unit);
    }
    for (const unit of touched) this.#judge(unit, finder);
    this.#changed.clear();
    return this.#groups;
  }

  /** Every pod whose group of a set has a pod that changed: such groups are counted by their pods. */
  #involved(): Pod[] {
    const sets = new Set<string>();
    for (const id of this.#changed) {
      const known = this.#pods.get(id);
      const set = known && setOf(known.pod);
      if (set !== undefined) sets.add(set);
      // Of a pod that is gone the set is not known any more, but its unit is.
      const unit = this.#unitOf.get(id);
      if (unit !== undefined) for (const other of this.#ofUnit.get(unit) ?? []) this.#addSet(sets, other);
    }
    return [...sets].flatMap((set) => [...(this.#ofSet.get(set) ?? [])].flatMap((id) => this.#pods.get(id)?.pod ?? []));
  }

  #addSet(sets: Set<string>, id: string): void {
    const known = this.#pods.get(id);
    const set = known && setOf(known.pod);
    if (set !== undefined) sets.add(set);
  }

  #judge(unit: string, finder: UnitFinder): void {
    const [first] = this.#ofUnit.get(unit) ?? [];
    const pod = first === undefined ? undefined : this.#pods.get(first)?.pod;
    if (pod === undefined) {
      this.#groups.delete(unit);
      this.#ofUnit.delete(unit);
      return;
    }
    const { healthy, needed } = finder.unitOf(pod);
    const known = this.#groups.get(unit)?.budgets ?? [];
    this.#groups.set(unit, {
      up: healthy >= needed,
      budgets: known.length > 0 ? known : budgetsOf(finder, pod),
    });
  }

  #forget(id: string): void {
    const known = this.#pods.get(id);
    if (known === undefined) return;
    this.#pods.delete(id);
    this.#ready -= known.ready ? 1 : 0;
    this.#pending -= known.pending ? 1 : 0;
    drop(this.#ofSet, setOf(known.pod), id);
    drop(this.#ofGang, gangOf(known.pod), id);
  }
}

function budgetsOf(finder: UnitFinder, pod: Pod): string[] {
  const { cells, unit } = finder.find(pod);
  return [...unit.budgets, ...cells.filter(({ id }) => id !== idOf(pod)).map(({ budget }) => budget)];
}

/** The group of a LeaderWorkerSet that a pod is in. */
function setOf({ metadata }: Pod): string | undefined {
  const name = setGroupOf(metadata.labels);
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

function gangOf({ metadata, spec }: Pod): string | undefined {
  const name = spec?.schedulingGroup?.podGroupName;
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

function drop(sets: Map<string, Set<string>>, key: string | undefined, id: string): void {
  const members = key === undefined ? undefined : sets.get(key);
  members?.delete(id);
  if (key !== undefined && members?.size === 0) sets.delete(key);
}

function add(sets: Map<string, Set<string>>, key: string | undefined, id: string): void {
  if (key === undefined) return;
  const members = sets.get(key) ?? new Set();
  sets.set(key, members);
  members.add(id);
}
