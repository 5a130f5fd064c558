import type { Pod } from '../../api/generated/core-v1.ts';
import {
  DEPRECATED_RELATED_PUB_ANNOTATION,
  type PodUnavailableBudget,
  RELATED_PUB_ANNOTATION,
  type TargetReference,
} from '../../api/kruise/types.ts';
import { LWS } from '../../api/lws/types.ts';
import { splitApiVersion } from '../../api/resource.ts';
import { fromLabelSelector, type Labels, matches, nothing, type Selector } from '../../machinery/values/index.ts';
import { SelectorIndex } from '../disruption/selector-index.ts';
import { declaredSize, groupIdentity } from './groups.ts';
import { isActive, isConsistent, isReady } from './pod-state.ts';
import { UnavailabilityTally, type CoveredPod } from './tally.ts';

/** A workload as `targetRef` names it, its version left out: `apps/Deployment/web`. */
export type Target = string;

export const targetOf = ({ apiVersion = '', kind = '', name = '' }: TargetReference): Target =>
  `${splitApiVersion(apiVersion).group}/${kind}/${name}`;

const isLeaderWorkerSet = (target: Target): boolean => target.split('/')[1] === 'LeaderWorkerSet';

/** The budget a pod's annotations name: a cache for readers, which the controller writes. */
export function relatedBudgetOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[RELATED_PUB_ANNOTATION] ?? metadata.annotations?.[DEPRECATED_RELATED_PUB_ANNOTATION];
}

/** A pod with every workload that stands above it. */
export interface PlacedPod {
  readonly pod: Pod;
  readonly targets: readonly Target[];
}

export interface IndexedBudget {
  readonly budget: PodUnavailableBudget;
  readonly tally: UnavailabilityTally;
  readonly ignored: Selector;
}

/** One list for the many pods that no budget covers. */
const NONE: readonly string[] = [];

/**
 * Which budgets cover which pods, and what each budget counts, for one namespace. It holds what it is told, in the
 * order it is told; a pod event costs as many budgets as cover the pod.
 */
export class BudgetIndex {
  readonly #compat: boolean;
  readonly #budgets = new Map<string, IndexedBudget>();
  readonly #selectors = new SelectorIndex<string>();
  readonly #byTarget = new Map<Target, Set<string>>();
  readonly #pods = new Map<string, PlacedPod & { readonly covering: readonly string[] }>();

  /**
   * `compat`: OpenKruise's reading of image digests, its leaders-only view of a LeaderWorkerSet, and its trust in the
   * annotation that names a pod's budget.
   */
  constructor({ compat = false }: { compat?: boolean } = {}) {
    this.#compat = compat;
  }

  get isEmpty(): boolean {
    return this.#budgets.size === 0 && this.#pods.size === 0;
  }

  budget(name: string): IndexedBudget | undefined {
    return this.#budgets.get(name);
  }

  budgets(): IterableIterator<IndexedBudget> {
    return this.#budgets.values();
  }

  pod(name: string): Pod | undefined {
    return this.#pods.get(name)?.pod;
  }

  /** The budgets that cover a pod the index knows, by name. */
  covering(podName: string): IndexedBudget[] {
    return (this.#pods.get(podName)?.covering ?? []).map((name) => this.#budgets.get(name) as IndexedBudget);
  }

  /** The budget that a pod which is not here yet would be related to: the first that covers it, by name. */
  relatedTo({ pod, targets }: PlacedPod): string | undefined {
    return this.#coveringOf(pod.metadata.labels, targets)[0];
  }

  /**
   * The budgets that a request about a pod is judged by: those that cover it. In compatibility mode the one its
   * annotation names, whatever covers it; none where it names none, or one that is gone.
   */
  judging(podName: string): IndexedBudget[] {
    if (!this.#compat) return this.covering(podName);
    const pod = this.#pods.get(podName)?.pod;
    const named = pod && relatedBudgetOf(pod);
    const entry = named === undefined ? undefined : this.#budgets.get(named);
    return entry === undefined ? [] : [entry];
  }

  setBudget(budget: PodUnavailableBudget): void {
    const name = budget.metadata.name ?? '';
    const known = this.#budgets.get(name);
    const { podGroupPolicy, selector, targetRef } = budget.spec ?? {};
    const before = known?.budget.spec;
    const sameScope =
      known !== undefined &&
      (isSameSpec(known.budget, budget) ||
        JSON.stringify([before?.selector, before?.targetRef, before?.podGroupPolicy]) ===
          JSON.stringify([selector, targetRef, podGroupPolicy]));
    const tally = sameScope ? known.tally : new UnavailabilityTally(podGroupPolicy?.minReadyReplicas);
    const ignored =
      known !== undefined && isSameSpec(known.budget, budget)
        ? known.ignored
        : budget.spec?.ignoredPodSelector
          ? fromLabelSelector(budget.spec.ignoredPodSelector)
          : nothing;
    if (!sameScope) this.#forget(name, before?.targetRef);
    this.#budgets.set(name, { budget, tally, ignored });
    if (!sameScope) {
      if (selector) this.#selectors.set(name, fromLabelSelector(selector));
      if (targetRef) this.#targetSet(targetOf(targetRef)).add(name);
      for (const [podName, { pod, targets }] of this.#pods) this.#place(podName, { pod, targets });
    }
    tally.setLedger(budget.status ?? {});
  }

  deleteBudget(name: string): void {
    const known = this.#budgets.get(name);
    if (known === undefined) return;
    this.#forget(name, known.budget.spec?.targetRef);
    this.#budgets.delete(name);
    for (const [podName, placed] of this.#pods) {
      if (placed.covering.includes(name)) {
        this.#pods.set(podName, { ...placed, covering: placed.covering.filter((other) => other !== name) });
      }
    }
  }

  /**
   * Asks as if these budgets, by name, were as given, or gone where undefined; leaves everything as it was. The question
   * must be asked, and answered, at once.
   */
  suppose<T>(budgets: ReadonlyMap<string, PodUnavailableBudget | undefined>, ask: () => T): T {
    const before = new Map([...budgets.keys()].map((name) => [name, this.#budgets.get(name)?.budget]));
    this.#setAll(budgets);
    try {
      return ask();
    } finally {
      this.#setAll(before);
    }
  }

  setPod(placed: PlacedPod): void {
    this.#place(placed.pod.metadata.name ?? '', placed);
  }

  deletePod(name: string): void {
    for (const { tally } of this.covering(name)) tally.delete(name);
    this.#pods.delete(name);
  }

  #setAll(budgets: ReadonlyMap<string, PodUnavailableBudget | undefined>): void {
    for (const [name, budget] of budgets) {
      if (budget === undefined) this.deleteBudget(name);
      else this.setBudget(budget);
    }
  }

  #place(name: string, { pod, targets }: PlacedPod): void {
    const covering = this.#coveringOf(pod.metadata.labels, targets);
    for (const old of this.#pods.get(name)?.covering ?? []) {
      if (!covering.includes(old)) this.#budgets.get(old)?.tally.delete(name);
    }
    for (const one of covering) {
      const { budget, tally } = this.#budgets.get(one) as IndexedBudget;
      tally.set(coveredPod(pod, budget.spec?.podGroupPolicy?.groupLabelKey, this.#compat));
    }
    this.#pods.set(name, { pod, targets, covering });
  }

  #coveringOf(labels: Labels | undefined, targets: readonly Target[]): readonly string[] {
    if (this.#budgets.size === 0) return NONE;
    const found = new Set(this.#selectors.matching(labels ?? {}));
    const hidden = this.#compat && labels?.[LWS.workerIndex] !== undefined && labels[LWS.workerIndex] !== '0';
    for (const target of targets) {
      if (hidden && isLeaderWorkerSet(target)) continue;
      for (const name of this.#byTarget.get(target) ?? []) found.add(name);
    }
    return [...found].sort();
  }

  #forget(name: string, targetRef: TargetReference | undefined): void {
    this.#selectors.delete(name);
    if (targetRef) this.#targetSet(targetOf(targetRef)).delete(name);
  }

  #targetSet(target: Target): Set<string> {
    const known = this.#byTarget.get(target) ?? new Set();
    this.#byTarget.set(target, known);
    return known;
  }
}

/** The server counts up with every change of a spec; most writes are of a status. */
function isSameSpec(a: PodUnavailableBudget, b: PodUnavailableBudget): boolean {
  const { generation, uid } = a.metadata;
  return (
    uid !== undefined && uid === b.metadata.uid && generation !== undefined && generation === b.metadata.generation
  );
}

/** The indexes of all namespaces. */
export class BudgetIndexes {
  readonly #options: { compat?: boolean };
  readonly #byNamespace = new Map<string, BudgetIndex>();

  constructor(options: { compat?: boolean } = {}) {
    this.#options = options;
  }

  of(namespace: string): BudgetIndex {
    const known = this.#byNamespace.get(namespace) ?? new BudgetIndex(this.#options);
    this.#byNamespace.set(namespace, known);
    return known;
  }

  /** Whether anything is known of a namespace. */
  has(namespace: string): boolean {
    return this.#byNamespace.has(namespace);
  }

  delete(namespace: string): void {
    this.#byNamespace.delete(namespace);
  }

  namespaces(): string[] {
    return [...this.#byNamespace.keys()];
  }

  clear(): void {
    this.#byNamespace.clear();
  }
}

export function isIgnored({ ignored }: IndexedBudget, pod: Pod): boolean {
  return matches(ignored, pod.metadata.labels as Labels | undefined);
}

/** What a budget sees of a pod; `groupLabelKey` is absent where it counts pods. */
export function coveredPod(pod: Pod, groupLabelKey: string | undefined, compat = false): CoveredPod {
  const { annotations, creationTimestamp, labels, name = '', ownerReferences, uid = '' } = pod.metadata;
  return {
    name,
    uid,
    createdAtMs: creationTimestamp ? Date.parse(creationTimestamp) : 0,
    active: isActive(pod),
    serving: isActive(pod) && isReady(pod) && isConsistent(pod, { compat }),
    group: groupLabelKey === undefined ? undefined : groupIdentity(groupLabelKey, labels),
    declaredSize: declaredSize(annotations),
    ownerUid: ownerReferences?.find(({ controller }) => controller === true)?.uid,
  };
}
