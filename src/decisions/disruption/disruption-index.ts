import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { type GroupAsOne, groupAsOne } from './as-one.ts';
import type { BudgetFacts } from './budget-facts.ts';
import type { DisruptionTally } from './budget-tally.ts';
import { viewOf } from './budget-view.ts';
import type { CompositeFacts, GroupLookup, PodGroupFacts, WorkloadFacts } from './group-facts.ts';
import type { GroupServer } from './group-objects.ts';
import type { SaidOfGroup } from './label-sources/index.ts';
import type { KnownNotice, NoticeQuestion } from './known-notices.ts';
import type { Mode } from './mode.ts';
import { type IndexOptions, NamespaceIndex } from './namespace-index.ts';
import type { GroupNow, PolicyFacts } from '../policies/index.ts';
import type { CountedPod } from './pod-facts.ts';
import {
  type GroupAround,
  groupAround,
  groupsUnder,
  type LimitQuestion,
  limitQuestion,
  noticeQuestion,
} from './policy-groups.ts';
import { computePublication, type Publication } from './publication.ts';
import { isNoted, readPublicationState } from './publication-state.ts';
import type { PodRecord } from './records.ts';
import type { RoomJudge } from './room.ts';
import { byName, compare, describe, type ShortUnit, unresolvedUnits } from './short-units.ts';
import type { BudgetView, EvictionQuestion } from './verdict.ts';

const NO_GROUPS: GroupLookup = {
  workload: () => undefined,
  podGroup: () => undefined,
  composite: () => undefined,
  tree: () => ({ kind: 'composite', needed: 1, children: [] }),
  liveGroups: () => 0,
  source: () => undefined,
};

/** The counts of one budget at one moment. */
export interface BudgetCount {
  readonly budget: BudgetFacts;
  readonly mode: Mode;
  /** Pods the selector matches, whatever their state. */
  readonly pods: number;
  /** Healthy pods, or available groups when groups count. */
  readonly healthy: number;
  /** Replicas declared; only when groups count. */
  readonly expectedUnits: number;
  readonly owners: readonly OwnerReference[];
  /** Selected pods without a controller. */
  readonly unmanaged: number;
  /** Families that selected pods belong to. */
  readonly families: number;
  /** Selected pods that name a group, resolvable or not. */
  readonly linked: number;
}

/**
 * Knows at any moment how many pods and groups each budget has, in constant time per event and per question: the cost
 * of a decision does not grow with the number of pods. It holds what it is told, in the order it is told.
 */
export class DisruptionIndex {
  readonly #namespaces = new Map<string, NamespaceIndex>();
  readonly #options: IndexOptions;
  /** Knows where pods could go; budgets that want room before disruption cannot tell without. */
  room: RoomJudge | undefined;

  constructor(options: IndexOptions = {}) {
    this.#options = options;
  }

  setPod(pod: CountedPod): void {
    this.#in(pod.namespace).setPod(pod);
  }

  deletePod(namespace: string, name: string): void {
    this.#change(namespace, (index) => index.deletePod(name));
  }

  setBudget(budget: BudgetFacts): void {
    this.#in(budget.namespace).setBudget(budget);
  }

  deleteBudget(namespace: string, name: string): void {
    this.#change(namespace, (index) => index.deleteBudget(name));
  }

  /**
   * Asks as if these budgets were what is known of them, and leaves everything as it was: whoever asks brings what it has
   * read, and nobody else hears of it. The question must be asked, and answered, at once.
   */
  suppose<T>(budgets: readonly BudgetFacts[], ask: () => T): T {
    const before = budgets.map(({ name, namespace }) => this.budget(namespace, name));
    for (const budget of budgets) this.setBudget(budget);
    try {
      return ask();
    } finally {
      for (const [at, { name, namespace }] of budgets.entries()) {
        const known = before[at];
        if (known === undefined) this.deleteBudget(namespace, name);
        else this.setBudget(known);
      }
    }
  }

  setPolicy(policy: PolicyFacts): void {
    this.#in(policy.namespace).setPolicy(policy);
  }

  deletePolicy(namespace: string, name: string): void {
    this.#change(namespace, (index) => index.deletePolicy(name));
  }

  policy(namespace: string, name: string): PolicyFacts | undefined {
    return this.#namespaces.get(namespace)?.policies.all.get(name);
  }

  hasPolicies(namespace: string): boolean {
    return (this.#namespaces.get(namespace)?.policies.all.size ?? 0) > 0;
  }

  /** The group that a pod's going concerns, and the policies over it; undefined where there are none. */
  limitsOn(namespace: string, podName: string, gone: (group: string) => number = () => 0): LimitQuestion | undefined {
    const index = this.#namespaces.get(namespace);
    if (index === undefined || index.policies.all.size === 0) return undefined;
    const record = index.pods.get(podName);
    return record && limitQuestion(index, record, gone);
  }

  /** The group of a pod, as it is now, whoever asks for it; a pod on its own is a group of one. */
  groupAround(namespace: string, podName: string): GroupAround | undefined {
    const index = this.#namespaces.get(namespace);
    const record = index?.pods.get(podName);
    return index && record && groupAround(index, record);
  }

  /** The group that a pod may only go together with; undefined where it goes by itself. */
  asOne(namespace: string, podName: string): GroupAsOne | undefined {
    const index = this.#namespaces.get(namespace);
    const record = index?.pods.get(podName);
    return index && record && groupAsOne(index, record);
  }

  /** Undefined: the GroupEviction gives no notice, or is gone. */
  setNotice(namespace: string, eviction: string, notice: KnownNotice | undefined): void {
    if (notice === undefined && this.#namespaces.get(namespace)?.notices.has(eviction) !== true) return;
    this.#change(namespace, ({ notices }) => {
      if (notice === undefined) notices.delete(eviction);
      else notices.set(eviction, notice);
    });
  }

  /** The notice that is due before a pod goes, or under way; undefined where neither can be. */
  noticeOn(namespace: string, podName: string): NoticeQuestion | undefined {
    const index = this.#namespaces.get(namespace);
    if (index === undefined || index.policies.all.size + index.notices.size === 0) return undefined;
    const record = index.pods.get(podName);
    return record && noticeQuestion(index, record);
  }

  /** The groups that a policy speaks for, as they are now. */
  groupsUnder(namespace: string, policy: string): GroupNow[] {
    const index = this.#namespaces.get(namespace);
    return index === undefined ? [] : groupsUnder(index, policy);
  }

  /** Undefined facts: the object is gone. */
  setWorkload(namespace: string, name: string, facts: WorkloadFacts | undefined, server?: GroupServer): void {
    this.#change(namespace, (index) => index.setWorkload(name, facts, server));
  }

  setPodGroup(namespace: string, name: string, facts: PodGroupFacts | undefined, server?: GroupServer): void {
    this.#change(namespace, (index) => index.setPodGroup(name, facts, server));
  }

  setComposite(namespace: string, name: string, facts: CompositeFacts | undefined, server?: GroupServer): void {
    this.#change(namespace, (index) => index.setComposite(name, facts, server));
  }

  /** What `owner`, such as `Job/train`, says about a group that labels mark; undefined: nothing, or it is gone. */
  setSource(namespace: string, owner: string, said: SaidOfGroup | undefined): void {
    this.#change(namespace, (index) => index.setSource(owner, said));
  }

  /** Moves with every change of a namespace's group objects that may make an answer another one. */
  groupRevision(namespace: string): number {
    return this.#namespaces.get(namespace)?.groups.revision ?? 0;
  }

  /**
   * Names of the budgets that count groups which something said about groups concerns, since this was last asked. Only
   * one may ask: whoever keeps the status of budgets.
   */
  takeRegrouped(namespace: string): string[] {
    return this.#namespaces.get(namespace)?.takeRegrouped() ?? [];
  }

  /** The group objects of a namespace, as resolvers ask for them. */
  groupsIn(namespace: string): GroupLookup {
    return this.#namespaces.get(namespace)?.groups ?? NO_GROUPS;
  }

  clear(): void {
    this.#namespaces.clear();
  }

  pod(namespace: string, name: string): CountedPod | undefined {
    return this.#namespaces.get(namespace)?.pods.get(name)?.facts;
  }

  *pods(namespace: string): Generator<CountedPod> {
    for (const { facts } of this.#namespaces.get(namespace)?.pods.values() ?? []) yield facts;
  }

  budget(namespace: string, name: string): BudgetFacts | undefined {
    return this.#namespaces.get(namespace)?.budgets.get(name)?.facts;
  }

  *budgets(namespace?: string): Generator<BudgetFacts> {
    for (const [name, index] of this.#namespaces) {
      if (namespace !== undefined && name !== namespace) continue;
      for (const { facts } of index.budgets.values()) yield facts;
    }
  }

  /** Names of the budgets that select a pod, and of those that count a group it is a member of. */
  concernedBy(namespace: string, podName: string): { selecting: string[]; grouping: string[] } {
    const record = this.#namespaces.get(namespace)?.pods.get(podName);
    if (record === undefined) return { selecting: [], grouping: [] };
    const selecting = record.tallies.map(({ facts }) => facts.name);
    const grouping = new Set<string>();
    for (const { unit } of record.places?.values() ?? []) {
      for (const { facts } of unit?.family.tallies.keys() ?? []) grouping.add(facts.name);
    }
    return { selecting, grouping: [...grouping] };
  }

  /** Names of the budgets in a namespace that select a pod which names a group. */
  budgetsOverGroups(namespace: string): string[] {
    const tallies = [...(this.#namespaces.get(namespace)?.budgets.values() ?? [])];
    return tallies.filter(({ linkedPods }) => linkedPods > 0).map(({ facts }) => facts.name);
  }

  /**
   * Everything a decision about a pod needs; undefined when there is no such pod. `again` leaves out what a ledger says
   * about this very pod: it is judged by what it is now, as if it had never been granted.
   */
  ask(namespace: string, podName: string, now: number, { again = false } = {}): EvictionQuestion | undefined {
    const record = this.#namespaces.get(namespace)?.pods.get(podName);
    if (record === undefined) return undefined;
    return { pod: record.facts, views: record.tallies.map((tally) => viewOf(tally, record, now, again)) };
  }

  /** The views of budgets that count a group this pod is a member of, and that do not select it: its going costs them too. */
  viewsBeside(namespace: string, podName: string, now: number): BudgetView[] {
    const index = this.#namespaces.get(namespace);
    const record = index?.pods.get(podName);
    if (record === undefined) return [];
    const { grouping } = this.concernedBy(namespace, podName);
    return grouping.flatMap((name) => {
      const tally = index?.budgets.get(name);
      if (tally === undefined || tally.matched.has(record)) return [];
      const view = viewOf(tally, record, now, false);
      return view.unit === undefined ? [] : [view];
    });
  }

  /** With `settled`, in pods where not all groups can be resolved, whatever was counted before. */
  count(
    namespace: string,
    budgetName: string,
    now: number,
    { settled = false }: { readonly settled?: boolean } = {},
  ): BudgetCount | undefined {
    const tally = this.#tally(namespace, budgetName, now);
    if (tally === undefined) return undefined;
    const { facts } = tally;
    const mode = settled ? tally.settledMode : tally.mode;
    const inGroups = mode.unit === 'PodGroup';
    return {
      budget: facts,
      mode,
      pods: tally.matched.size,
      healthy: inGroups ? tally.availableUnits : tally.healthyPods,
      expectedUnits: inGroups ? tally.expectedUnits : 0,
      owners: [...tally.owners.values()].map(({ owner }) => owner),
      unmanaged: tally.unmanaged.size,
      families: tally.families.size,
      linked: tally.linkedPods,
    };
  }

  /**
   * The numbers in pods that a budget over groups shows; undefined where pods are counted. `disruptedPods` is what the
   * API server has noted in the budget itself.
   */
  publication(
    namespace: string,
    budgetName: string,
    now: number,
    disruptedPods: Readonly<Record<string, string>> | undefined,
  ): Publication | undefined {
    const tally = this.#tally(namespace, budgetName, now);
    if (tally?.mode.unit !== 'PodGroup') return undefined;
    const pods = this.#namespaces.get(namespace)?.pods;
    const isShared = ({ facts }: PodRecord): boolean => (pods?.get(facts.name)?.tallies.length ?? 0) > 1;
    return computePublication(readPublicationState(tally, { disruptedPods, isShared, now }));
  }

  /** How many evictions were let pass under a budget that the API server has still to count. */
  outstanding(
    namespace: string,
    budgetName: string,
    now: number,
    disruptedPods: Readonly<Record<string, string>> = {},
  ): number {
    let count = 0;
    for (const record of this.#tally(namespace, budgetName, now)?.claimed ?? []) {
      if (!isNoted(record, disruptedPods[record.facts.name], now)) count += 1;
    }
    return count;
  }

  /** The pods a budget selects. */
  podsOf(namespace: string, budgetName: string): CountedPod[] {
    const tally = this.#namespaces.get(namespace)?.budgets.get(budgetName);
    return tally === undefined ? [] : [...tally.matched].map(({ facts }) => facts);
  }

  isSelected(namespace: string, budgetName: string, podName: string): boolean {
    const index = this.#namespaces.get(namespace);
    const record = index?.pods.get(podName);
    return record !== undefined && index?.budgets.get(budgetName)?.matched.has(record) === true;
  }

  /** What is not healthy, for explanations: single pods, or groups below their minimum with their members. */
  shortOf(namespace: string, budgetName: string, now: number): ShortUnit[] {
    const tally = this.#tally(namespace, budgetName, now);
    if (tally === undefined) return [];
    if (tally.mode.unit === 'PodGroup') {
      const down = [...tally.down].map((unit) => describe(tally, unit)).sort(byName);
      return tally.mode.settling === undefined ? down : [...down, ...unresolvedUnits(tally)];
    }
    const missing = [...tally.matched].filter((record) => !record.up || tally.isClaimed(record));
    missing.sort((a, b) => compare(a.facts.name, b.facts.name));
    return missing.map((record) => ({
      key: undefined,
      name: undefined,
      healthy: 0,
      minCount: 1,
      members: 1,
      missing: [{ pod: record.facts, evicting: tally.isClaimed(record) }],
    }));
  }

  /** The pod's group under a budget, with its members that are not healthy. */
  unitOf(namespace: string, podName: string, budgetName: string, now: number): ShortUnit | undefined {
    const tally = this.#tally(namespace, budgetName, now);
    const record = this.#namespaces.get(namespace)?.pods.get(podName);
    const unit = tally === undefined ? undefined : record?.places?.get(tally.grouping)?.unit;
    return tally === undefined || unit === undefined ? undefined : describe(tally, unit);
  }

  /** All pods of the unit that a pod belongs to under a budget; the pod itself where it stands alone. */
  membersOf(namespace: string, podName: string, budgetName: string): CountedPod[] {
    const index = this.#namespaces.get(namespace);
    const tally = index?.budgets.get(budgetName);
    const record = index?.pods.get(podName);
    if (record === undefined) return [];
    const unit = tally?.mode.unit === 'PodGroup' ? record.places?.get(tally.grouping)?.unit : undefined;
    return unit === undefined ? [record.facts] : [...unit.members.keys()].map(({ facts }) => facts);
  }

  /** What the pod's group under a budget is called; undefined for a pod that stands for itself. */
  unitName(namespace: string, podName: string, budgetName: string): string | undefined {
    const index = this.#namespaces.get(namespace);
    const tally = index?.budgets.get(budgetName);
    const unit = tally && index?.pods.get(podName)?.places?.get(tally.grouping)?.unit;
    return unit && tally.grouping.nameOf(unit);
  }

  #tally(namespace: string, budgetName: string, now: number): DisruptionTally | undefined {
    const tally = this.#namespaces.get(namespace)?.budgets.get(budgetName);
    tally?.moveTo(now);
    return tally;
  }

  #in(namespace: string): NamespaceIndex {
    let index = this.#namespaces.get(namespace);
    if (index === undefined) this.#namespaces.set(namespace, (index = new NamespaceIndex(this.#options)));
    return index;
  }

  #change(namespace: string, change: (index: NamespaceIndex) => void): void {
    const index = this.#in(namespace);
    change(index);
    if (index.isEmpty) this.#namespaces.delete(namespace);
  }
}
