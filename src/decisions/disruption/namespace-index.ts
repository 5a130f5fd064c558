import { deepEqual, type Labels, matches } from '../../machinery/values/index.ts';
import type { BudgetFacts } from './budget-facts.ts';
import { DisruptionTally } from './budget-tally.ts';
import { type GroupBy, groupById } from './group-by.ts';
import type { GroupSource, PodGroupFacts, WorkloadFacts } from './group-facts.ts';
import type { SaidOfGroup } from './label-sources/index.ts';
import { join, leave, LinkedPods } from './linked-pods.ts';
import { isUp, type CountedPod } from './pod-facts.ts';
import { SelectorIndex } from './selector-index.ts';
import type { PodRecord } from './records.ts';
import { Grouping, type LiveGroups } from './unit-index.ts';

export interface IndexedPod extends PodRecord {
  /** Budgets that select it. */
  tallies: readonly DisruptionTally[];
}

/** Pods, budgets and groups of one namespace, with every count kept. */
export class NamespaceIndex implements LiveGroups {
  readonly pods = new Map<string, IndexedPod>();
  readonly budgets = new Map<string, DisruptionTally>();
  readonly #selectors = new SelectorIndex<DisruptionTally>();
  readonly #auto = new Grouping(undefined, this);
  /** The groupings in use: the automatic one, and those that budgets name. */
  readonly #groupings = new Map<string, { grouping: Grouping; budgets: number }>();
  readonly #workloads = new Map<string, WorkloadFacts>();
  readonly #podGroups = new Map<string, PodGroupFacts>();
  readonly #liveByTemplate = new Map<string, number>();
  /** By the group's key, with who said it: an object that goes takes back only what is still its own word. */
  readonly #sources = new Map<string, { readonly owner: string; readonly source: GroupSource }>();
  readonly #saidBy = new Map<string, string>();
  readonly #linked = new LinkedPods<IndexedPod>();
  /** Names of the PodGroups made from a Workload. */
  readonly #madeFrom = new Map<string, Set<string>>();
  #revision = 0;

  constructor() {
    this.#groupings.set(this.#auto.id, { grouping: this.#auto, budgets: 1 });
  }

  get isEmpty(): boolean {
    const { size } = this.pods;
    return size + this.budgets.size + this.#workloads.size + this.#podGroups.size + this.#sources.size === 0;
  }

  get revision(): number {
    return this.#revision;
  }

  workload(name: string): WorkloadFacts | undefined {
    return this.#workloads.get(name);
  }

  podGroup(name: string): PodGroupFacts | undefined {
    return this.#podGroups.get(name);
  }

  livePodGroups(workload: string, template: string): number {
    return this.#liveByTemplate.get(`${workload}/${template}`) ?? 0;
  }

  source(key: string): GroupSource | undefined {
    return this.#sources.get(key)?.source;
  }

  setPod(facts: CountedPod): void {
    const record = this.pods.get(facts.name);
    if (record === undefined) {
      const tallies = this.#selectors.matching(facts.labels);
      const added: IndexedPod = { facts, up: isUp(facts), tallies, places: undefined };
      this.pods.set(facts.name, added);
      this.#attach(added, tallies);
      return;
    }
    if (standsStill(record.facts, facts)) {
      const up = isUp(facts);
      if (up !== record.up) {
        for (const tally of record.tallies) tally.setUp(record, up);
        record.up = up;
        for (const grouping of record.places?.keys() ?? []) grouping.setUp(record, up);
      }
      record.facts = facts;
      return;
    }
    const sameLabels = sameEntries(record.facts.labels, facts.labels);
    const tallies = sameLabels ? record.tallies : this.#selectors.matching(facts.labels);
    this.#detach(record);
    record.facts = facts;
    record.up = isUp(facts);
    this.#attach(record, tallies);
  }

  deletePod(name: string): void {
    const record = this.pods.get(name);
    if (record === undefined) return;
    this.#detach(record);
    this.pods.delete(name);
  }

  setBudget(facts: BudgetFacts): void {
    const known = this.budgets.get(facts.name);
    if (known !== undefined && sameSelection(known.facts, facts)) {
      known.setStatus(facts);
      return;
    }
    this.deleteBudget(facts.name);
    const tally = new DisruptionTally(facts, this.#use(facts.groupBy), (name) => this.pods.get(name));
    this.budgets.set(facts.name, tally);
    this.#selectors.set(tally, facts.selector);
    if (!facts.selector.matchesNothing) {
      for (const record of this.pods.values()) {
        if (!matches(facts.selector, record.facts.labels)) continue;
        record.tallies = [...record.tallies, tally];
        tally.add(record);
      }
    }
    tally.setStatus(facts);
  }

  deleteBudget(name: string): void {
    const tally = this.budgets.get(name);
    if (tally === undefined) return;
    this.#selectors.delete(tally);
    for (const record of tally.matched) {
      tally.remove(record);
      const indexed = this.pods.get(record.facts.name);
      if (indexed !== undefined) indexed.tallies = indexed.tallies.filter((other) => other !== tally);
    }
    this.budgets.delete(name);
    this.#drop(tally.grouping);
  }

  setWorkload(name: string, facts: WorkloadFacts | undefined): void {
    this.#revision += 1;
    if (facts === undefined) this.#workloads.delete(name);
    else this.#workloads.set(name, facts);
    const concerned = new Set(this.#linked.ofWorkload(name));
    // A PodGroup may name the Workload on the pod's behalf.
    for (const podGroup of this.#madeFrom.get(name) ?? []) {
      for (const record of this.#linked.ofPodGroup(podGroup)) concerned.add(record);
    }
    this.#resolveAgain([...concerned]);
  }

  setPodGroup(name: string, facts: PodGroupFacts | undefined): void {
    const known = this.#podGroups.get(name);
    // Most updates of a PodGroup are of its status, which nothing here depends on.
    if (known !== undefined && deepEqual(known, facts)) return;
    this.#revision += 1;
    this.#countPodGroup(known, -1);
    this.#countPodGroup(facts, 1);
    if (known?.template !== undefined) leave(this.#madeFrom, known.template.workload, name);
    if (facts?.template !== undefined) join(this.#madeFrom, facts.template.workload, name);
    if (facts === undefined) this.#podGroups.delete(name);
    else this.#podGroups.set(name, facts);
    this.#resolveAgain([...this.#linked.ofPodGroup(name)]);
  }

  setSource(owner: string, said: SaidOfGroup | undefined): void {
    const before = this.#saidBy.get(owner);
    const known = said && this.#sources.get(said.key);
    if (before === said?.key && known?.owner === (said && owner) && deepEqual(known?.source, said?.source)) return;
    this.#revision += 1;
    if (before !== undefined && this.#sources.get(before)?.owner === owner) this.#sources.delete(before);
    if (said === undefined) this.#saidBy.delete(owner);
    else {
      this.#saidBy.set(owner, said.key);
      this.#sources.set(said.key, { owner, source: said.source });
    }
    // The automatic grouping takes only replicas from sources, and asks for them when it counts.
    if (this.#groupings.size === 1) return;
    for (const record of this.pods.values()) {
      if (record.places === undefined || record.places.size === 0) continue;
      this.#attach(record, this.#detach(record));
    }
  }

  #countPodGroup(facts: PodGroupFacts | undefined, by: 1 | -1): void {
    if (facts?.template === undefined || facts.terminating) return;
    const key = `${facts.template.workload}/${facts.template.name}`;
    this.#liveByTemplate.set(key, (this.#liveByTemplate.get(key) ?? 0) + by);
  }

  #resolveAgain(records: readonly IndexedPod[]): void {
    const tallies = records.map((record) => this.#detach(record));
    for (const [at, record] of records.entries()) this.#attach(record, tallies[at] ?? []);
  }

  #attach(record: IndexedPod, tallies: readonly DisruptionTally[]): void {
    if (record.facts.link !== undefined) {
      this.#linked.add(record);
      this.#auto.place(record);
    }
    if (this.#groupings.size > 1) {
      for (const { grouping } of this.#groupings.values()) if (grouping !== this.#auto) grouping.place(record);
    }
    record.tallies = tallies;
    for (const tally of tallies) tally.add(record);
  }

  #detach(record: IndexedPod): readonly DisruptionTally[] {
    const { tallies } = record;
    for (const tally of tallies) tally.remove(record);
    for (const grouping of record.places?.keys() ?? []) grouping.unplace(record);
    this.#linked.delete(record);
    return tallies;
  }

  #use(groupBy: GroupBy | 'unknown' | undefined): Grouping {
    const wanted = groupBy === 'unknown' ? undefined : groupBy;
    const known = this.#groupings.get(groupById(wanted));
    if (known !== undefined) {
      known.budgets += 1;
      return known.grouping;
    }
    const grouping = new Grouping(wanted, this);
    this.#groupings.set(grouping.id, { grouping, budgets: 1 });
    for (const record of this.pods.values()) grouping.place(record);
    return grouping;
  }

  #drop(grouping: Grouping): void {
    const known = this.#groupings.get(grouping.id);
    if (known === undefined || (known.budgets -= 1) > 0) return;
    this.#groupings.delete(grouping.id);
    for (const record of this.pods.values()) grouping.unplace(record);
  }
}

/** Nothing that decides a pod's budgets or groups changed; at most its health did. */
function standsStill(a: CountedPod, b: CountedPod): boolean {
  return (
    a.uid === b.uid &&
    a.owner?.uid === b.owner?.uid &&
    sameEntries(a.labels, b.labels) &&
    sameEntries(a.markers, b.markers) &&
    deepEqual(a.link, b.link)
  );
}

function sameEntries(a: Labels | undefined, b: Labels | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  let count = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    count += 1;
  }
  for (const _ in b) count -= 1;
  return count === 0;
}

function sameSelection(a: BudgetFacts, b: BudgetFacts): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.scope === b.scope &&
    deepEqual(a.groupBy, b.groupBy) &&
    (a.selector === b.selector || deepEqual(a.selector, b.selector))
  );
}
