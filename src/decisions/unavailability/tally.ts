import type { PodUnavailableBudgetStatus } from '../../api/kruise/types.ts';
import { type CountedGroup, gatherGroups, isGroupAvailable } from './groups.ts';
import { isRecorded } from './ledger.ts';

/** What a budget needs to know of one pod it covers. */
export interface CoveredPod {
  readonly name: string;
  readonly uid: string;
  readonly createdAtMs: number;
  readonly active: boolean;
  /** Active, ready and consistent; the ledger is not part of it. */
  readonly serving: boolean;
  /** Undefined for a pod in no group, and for every pod where the budget counts pods. */
  readonly group: string | undefined;
  readonly declaredSize: number | undefined;
  readonly ownerUid: string | undefined;
}

export type Ledger = Pick<PodUnavailableBudgetStatus, 'disruptedPods' | 'unavailablePods'>;

/**
 * The counts of one budget, kept current pod by pod: a change costs as much as its group is large, a question costs
 * nothing. `recount` in the tests is what it must always equal.
 */
export class UnavailabilityTally {
  readonly #minReady: number;
  readonly #pods = new Map<string, CoveredPod>();
  readonly #groups = new Map<string, { members: Map<string, CoveredPod>; group: CountedGroup }>();
  #ledger: Ledger = {};
  #availableGroups = 0;
  #availablePods = 0;
  #ungrouped = 0;
  #ungroupedAvailable = 0;
  #changes = 0;

  constructor(minReadyReplicas = 1) {
    this.#minReady = minReadyReplicas;
  }

  /** Available pods, whether grouped or not. */
  get availablePods(): number {
    return this.#availablePods;
  }

  get availableGroups(): number {
    return this.#availableGroups;
  }

  /** Groups with a pod, also one that is going. */
  get seenGroups(): number {
    return this.#groups.size;
  }

  /** Active pods in no group. */
  get ungrouped(): number {
    return this.#ungrouped;
  }

  get ungroupedAvailable(): number {
    return this.#ungroupedAvailable;
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Grows whenever a pod comes or changes. */
  get changes(): number {
    return this.#changes;
  }

  get pods(): ReadonlyMap<string, CoveredPod> {
    return this.#pods;
  }

  group(identity: string): (CountedGroup & { readonly needed: number }) | undefined {
    const found = this.#groups.get(identity)?.group;
    return found === undefined ? undefined : { ...found, needed: this.#minReady ?? 1 };
  }

  groups(): CountedGroup[] {
    return [...this.#groups.values()].map(({ group }) => group);
  }

  /** Names of groups that are short, in order, at most `limit`. */
  unavailableGroupNames(limit: number): string[] {
    return this.groups()
      .filter((group) => !isGroupAvailable(group, this.#minReady))
      .map(({ identity }) => identity)
      .sort()
      .slice(0, limit);
  }

  set(pod: CoveredPod): void {
    this.#changes += 1;
    this.delete(pod.name);
    this.#pods.set(pod.name, pod);
    this.#count(pod, 1);
    if (pod.group !== undefined) this.#regroup(pod.group, (members) => members.set(pod.name, pod));
  }

  delete(name: string): void {
    const pod = this.#pods.get(name);
    if (pod === undefined) return;
    this.#count(pod, -1);
    this.#pods.delete(name);
    if (pod.group !== undefined) this.#regroup(pod.group, (members) => members.delete(name));
  }

  /** Takes over what the budget has granted and not yet seen happen. */
  setLedger(ledger: Ledger): void {
    const names = new Set<string>();
    addChanged(names, this.#ledger.disruptedPods, ledger.disruptedPods);
    addChanged(names, this.#ledger.unavailablePods, ledger.unavailablePods);
    const touched = [...names].flatMap((name) => this.#pods.get(name) ?? []);
    for (const pod of touched) this.#count(pod, -1);
    this.#ledger = ledger;
    for (const pod of touched) {
      this.#count(pod, 1);
      if (pod.group !== undefined) this.#regroup(pod.group, () => {});
    }
  }

  isAvailable(pod: CoveredPod): boolean {
    return pod.serving && !isRecorded(this.#ledger, pod);
  }

  #count(pod: CoveredPod, sign: 1 | -1): void {
    const available = this.isAvailable(pod) ? sign : 0;
    this.#availablePods += available;
    if (pod.group !== undefined) return;
    if (pod.active) this.#ungrouped += sign;
    this.#ungroupedAvailable += available;
  }

  #regroup(identity: string, change: (members: Map<string, CoveredPod>) => void): void {
    const entry = this.#groups.get(identity) ?? { members: new Map<string, CoveredPod>(), group: undefined };
    if (entry.group !== undefined && isGroupAvailable(entry.group, this.#minReady)) this.#availableGroups -= 1;
    change(entry.members);
    if (entry.members.size === 0) {
      this.#groups.delete(identity);
      return;
    }
    const group = gatherGroups(
      [...entry.members.values()].map((pod) => ({
        identity,
        active: pod.active,
        available: this.isAvailable(pod),
        declaredSize: pod.declaredSize,
      })),
    ).get(identity) as CountedGroup;
    this.#groups.set(identity, { members: entry.members, group });
    if (isGroupAvailable(group, this.#minReady)) this.#availableGroups += 1;
  }
}

type Entries = Readonly<Record<string, string>>;

/** Adds the names whose entry differs between two maps. */
function addChanged(names: Set<string>, before: Entries = {}, after: Entries = {}): void {
  for (const name in before) if (before[name] !== after[name]) names.add(name);
  for (const name in after) if (before[name] !== after[name]) names.add(name);
}
