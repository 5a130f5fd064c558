import { deepEqual, type Labels, matches } from '../../machinery/values/index.ts';
import type { BudgetFacts } from './budget-facts.ts';
import { DisruptionTally } from './budget-tally.ts';
import { type GroupBy, groupById, sourcesOf } from './group-by.ts';
import type { CompositeFacts, PodGroupFacts, WorkloadFacts } from './group-facts.ts';
import { type Concerned, GroupObjects, type GroupServer } from './group-objects.ts';
import type { SaidOfGroup } from './label-sources/index.ts';
import type { KnownNotice } from './known-notices.ts';
import { LinkedPods } from './linked-pods.ts';
import { PolicyIndex, type PolicyFacts } from '../policies/index.ts';
import { isUp, type CountedPod } from './pod-facts.ts';
import { HOLD_LABEL } from './room.ts';
import { SelectorIndex } from './selector-index.ts';
import type { PodRecord } from './records.ts';
import { Grouping } from './unit-index.ts';

export interface IndexedPod extends PodRecord {
  /** Budgets that select it. */
  tallies: readonly DisruptionTally[];
}

export interface IndexOptions {
  /** Knows the groups of LeaderWorkerSets also where no policy and no budget asks for them. */
  readonly everySet?: boolean | undefined;
  /** Groups that go as one do so for a moment longer than the objects are there that say so. */
  readonly now?: (() => number) | undefined;
}

/** Pods, budgets and groups of one namespace, with every count kept. */
export class NamespaceIndex {
  readonly groups: GroupObjects;
  readonly pods = new Map<string, IndexedPod>();
  readonly budgets = new Map<string, DisruptionTally>();
  readonly policies = new PolicyIndex();
  /** By the name of the GroupEviction. */
  readonly notices = new Map<string, KnownNotice>();
  readonly #selectors = new SelectorIndex<DisruptionTally>();
  readonly #auto: Grouping;
  /** The groupings in use: the automatic one, and those that budgets name. */
  readonly #groupings = new Map<string, { grouping: Grouping; budgets: number }>();
  readonly #linked = new LinkedPods<IndexedPod>();
  /** Groups of LeaderWorkerSets that pods do not name otherwise; only where there are policies, or `everySet`. */
  #sets: Grouping | undefined;
  /** Names of the budgets that a change of what says what a group is concerns, since they were last taken. */
  readonly #regrouped = new Set<string>();
  readonly #everySet: boolean;
  /** Says which Workload a PodGroup was made for. */
  readonly workloadOf = (podGroup: string): string | undefined => this.groups.podGroup(podGroup)?.template?.workload;

  constructor({ everySet = false, now }: IndexOptions = {}) {
    this.groups = new GroupObjects(now);
    this.#auto = new Grouping(undefined, this.groups);
    this.#everySet = everySet;
    this.#groupings.set(this.#auto.id, { grouping: this.#auto, budgets: 1 });
    if (everySet) this.#sets = this.#use({ kind: 'leaderWorkerSet' });
  }

  get isEmpty(): boolean {
    const held = this.pods.size + this.budgets.size + this.policies.all.size + this.notices.size;
    return held === 0 && this.groups.isEmpty;
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
        const { labels } = record.facts;
        if (labels[HOLD_LABEL] === 'true' || !matches(facts.selector, labels)) continue;
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
    this.#regrouped.delete(name);
    this.#drop(tally.grouping);
  }

  setPolicy(policy: PolicyFacts): void {
    this.policies.set(policy);
    this.#sets ??= this.#use({ kind: 'leaderWorkerSet' });
  }

  deletePolicy(name: string): void {
    this.policies.delete(name);
    if (this.#everySet || this.policies.all.size > 0 || this.#sets === undefined) return;
    this.#drop(this.#sets);
    this.#sets = undefined;
  }

  /** The ways of grouping in which policies look for a pod's group, first match wins. */
  readonly policyGroupings = (record: PodRecord): Grouping[] => {
    if (record.places === undefined) return [];
    const named = [...this.#groupings.values()].map(({ grouping }) => grouping);
    return this.#sets === undefined ? named : [this.#auto, this.#sets, ...named];
  };

  setWorkload(name: string, facts: WorkloadFacts | undefined, server: GroupServer = 'native'): void {
    const concerned = new Set(this.#linked.ofWorkload(name));
    for (const podGroup of this.groups.setWorkload(name, facts, server)) {
      for (const record of this.#linked.ofPodGroup(podGroup)) concerned.add(record);
    }
    this.#resolveAgain([...concerned]);
  }

  setPodGroup(name: string, facts: PodGroupFacts | undefined, server: GroupServer = 'native'): void {
    this.#resolveGroups(this.groups.setPodGroup(name, facts, server));
  }

  setComposite(name: string, facts: CompositeFacts | undefined, server: GroupServer = 'native'): void {
    this.#resolveGroups(this.groups.setComposite(name, facts, server));
  }

  setSource(owner: string, said: SaidOfGroup | undefined): void {
    const keys = this.groups.setSource(owner, said);
    if (keys.length === 0) return;
    for (const record of this.pods.values()) {
      if (record.places === undefined || record.places.size === 0) continue;
      const sources = sourcesOf(record.facts);
      if (!keys.some((key) => sources.includes(key))) continue;
      // The automatic grouping takes only replicas from sources, and asks for them when it counts.
      if (this.#groupings.size === 1) this.#noteRegrouped(record);
      else this.#resolveAgain([record]);
    }
  }

  podsOfGroup(podGroup: string): Iterable<PodRecord> {
    return this.#linked.ofPodGroup(podGroup);
  }

  /** Names of the budgets that count groups which are told in another way than when they were last taken. */
  takeRegrouped(): string[] {
    const names = [...this.#regrouped];
    this.#regrouped.clear();
    return names;
  }

  #resolveGroups({ families, podGroups }: Concerned): void {
    this.#resolveAgain([...podGroups].flatMap((name) => [...this.#linked.ofPodGroup(name)]));
    // A PodGroup that comes or goes is a replica more or less, without any pod of its own.
    for (const family of families) for (const name of this.#auto.budgetsOver(family)) this.#regrouped.add(name);
  }

  #resolveAgain(records: readonly IndexedPod[]): void {
    for (const record of records) this.#noteRegrouped(record);
    const tallies = records.map((record) => this.#detach(record));
    for (const [at, record] of records.entries()) {
      this.#attach(record, tallies[at] ?? []);
      this.#noteRegrouped(record);
    }
  }

  /** The budgets that select a pod, and those that count a group it is a member of. */
  #noteRegrouped({ places, tallies }: IndexedPod): void {
    for (const { facts } of tallies) this.#regrouped.add(facts.name);
    for (const { unit } of places?.values() ?? []) {
      for (const { facts } of unit?.family.tallies.keys() ?? []) this.#regrouped.add(facts.name);
    }
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
    const grouping = new Grouping(wanted, this.groups);
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
