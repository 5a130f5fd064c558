import type { Pod } from '../../api/generated/core-v1.ts';
import { LWS } from '../../api/lws/types.ts';
import { type BudgetView, type DisruptionIndex, setGroupOf } from '../../decisions/disruption/index.ts';
import type { PlanBudget, PlanCell, PlanUnit } from '../../decisions/drain-plan/index.ts';
import {
  computeDesired,
  declaredSize,
  type IndexedBudget,
  isIgnored,
  isReady,
  isUnprotected,
  protects,
  type UnavailabilityFeed,
} from '../../decisions/unavailability/index.ts';

export interface UnitSources {
  readonly index: DisruptionIndex;
  readonly unavailability: UnavailabilityFeed;
  /** LeaderWorkerSets whose groups restart as a whole, as `namespace/name`. */
  readonly wholesaleSets: ReadonlySet<string>;
  /** Groups under no budget as well. */
  readonly everyGroup: DisruptionIndex;
}

export interface FoundUnit {
  readonly unit: PlanUnit;
  readonly cells: readonly PlanCell[];
  /** The PodDisruptionBudgets that select the pod, where there are several. */
  readonly contested: readonly string[];
}

export const idOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

const GATES = { deletes: true, updates: false, verticalScaling: false };

/**
 * Finds what a pod moves with, and every budget that counts it. The unit is, first that applies: the group its
 * PodDisruptionBudget counts, the group it names, the group of its LeaderWorkerSet, the group of a
 * PodUnavailableBudget, itself.
 */
export class UnitFinder {
  readonly #sources: UnitSources;
  readonly #now: number;
  readonly #budgets = new Map<string, PlanBudget>();
  readonly #sets = new Map<string, SetGroup>();

  constructor(sources: UnitSources, pods: readonly Pod[], now: number) {
    this.#sources = sources;
    this.#now = now;
    for (const pod of pods) {
      const key = keyInSet(pod);
      if (key === undefined) continue;
      const group = this.#sets.get(key) ?? { seen: 0, size: 0, healthy: 0 };
      const seen = group.seen + 1;
      const size = Math.max(group.size, seen, declaredSize(pod.metadata.annotations) ?? 0);
      this.#sets.set(key, { ...group, seen, size, healthy: group.healthy + (isReady(pod) ? 1 : 0) });
    }
  }

  budgets(): PlanBudget[] {
    return [...this.#budgets.values()];
  }

  find(pod: Pod): FoundUnit {
    const { name = '', namespace = '' } = pod.metadata;
    const { everyGroup, index } = this.#sources;
    const views = index.ask(namespace, name, this.#now)?.views ?? [];
    const counted = views.map(({ budget, desired, live, unit }) => {
      const id = `${namespace}/${budget.name}`;
      this.#budgets.set(id, { id, allowance: live - desired });
      return { id, unit };
    });
    const group =
      namedUnit(index, views, pod) ??
      namedUnit(everyGroup, everyGroup.ask(namespace, name, this.#now)?.views ?? [], pod);
    const unavailable = this.#unavailability(pod);
    const unit = { ...this.#unitOf(pod, group, unavailable), wholesale: this.#isWholesale(pod) };
    const cells = unavailable.filter(({ id }) => id !== unit.id);
    // A PodDisruptionBudget that counts pods counts this one beside its group.
    const alone = { healthy: isReady(pod) ? 1 : 0, needed: 1 };
    for (const { id, unit: counts } of counted) {
      if (counts?.key !== undefined || unit.id === idOf(pod)) continue;
      const view = views.find(({ budget }) => `${namespace}/${budget.name}` === id);
      if (view?.mode.unit === 'Pod') cells.push({ id: idOf(pod), budget: id, ...alone });
    }
    const own = counted.filter(({ unit: counts }) => counts !== undefined || unit.id === idOf(pod)).map(({ id }) => id);
    const shared = unavailable.filter(({ id }) => id === unit.id).map(({ budget }) => budget);
    return {
      unit: { ...unit, budgets: [...own, ...shared] },
      cells,
      contested: counted.length > 1 ? counted.map(({ id }) => id) : [],
    };
  }

  #unitOf(
    pod: Pod,
    group: { name: string; healthy: number; minCount: number } | undefined,
    unavailable: readonly PlanCell[],
  ): Omit<PlanUnit, 'budgets' | 'wholesale'> {
    const { namespace = '' } = pod.metadata;
    const key = keyInSet(pod);
    const set = key === undefined ? undefined : this.#sets.get(key);
    if (group !== undefined) {
      return { id: `${namespace}/${group.name}`, healthy: group.healthy, needed: group.minCount };
    }
    if (key !== undefined && set !== undefined) return { id: key, healthy: set.healthy, needed: set.size };
    const cell = unavailable.find(({ id }) => id !== idOf(pod));
    if (cell !== undefined) return { id: cell.id, healthy: cell.healthy, needed: cell.needed };
    return { id: idOf(pod), healthy: isReady(pod) ? 1 : 0, needed: 1 };
  }

  #isWholesale(pod: Pod): boolean {
    const { labels, namespace = '' } = pod.metadata;
    const set = labels?.[LWS.name];
    return set !== undefined && this.#sources.wholesaleSets.has(`${namespace}/${set}`);
  }

  /** What PodUnavailableBudgets count this pod as. */
  #unavailability(pod: Pod): PlanCell[] {
    const { name = '', namespace = '' } = pod.metadata;
    const cells: PlanCell[] = [];
    if (isUnprotected(pod)) return cells;
    for (const entry of this.#sources.unavailability.indexes.of(namespace).covering(name)) {
      const { budget, tally } = entry;
      if (isIgnored(entry, pod) || !protects(budget.spec ?? {}, 'EVICT', GATES)) continue;
      const identity = tally.pods.get(name)?.group;
      const group = identity === undefined ? undefined : tally.group(identity);
      const id = `${namespace}/pub/${budget.metadata.name ?? ''}`;
      if (budget.spec?.podGroupPolicy !== undefined && group !== undefined) {
        this.#budgets.set(id, { id, allowance: allowanceOf(entry) });
        const cell = { id: `${id}/${group.identity}`, budget: id, healthy: group.ready, needed: group.needed };
        cells.push(cell);
      } else {
        const loose = budget.spec?.podGroupPolicy === undefined ? id : `${id} (pods in no group)`;
        this.#budgets.set(loose, { id: loose, allowance: allowanceOf(entry, loose !== id) });
        cells.push({ id: idOf(pod), budget: loose, healthy: isReady(pod) ? 1 : 0, needed: 1 });
      }
    }
    return cells;
  }
}

/** What is seen of one group of a LeaderWorkerSet. */
interface SetGroup {
  readonly seen: number;
  readonly size: number;
  readonly healthy: number;
}

/** Groups or pods a budget can lose now. */
function allowanceOf({ budget, tally }: IndexedBudget, ungrouped = false): number {
  const spec = budget.spec ?? {};
  if (ungrouped) return tally.ungroupedAvailable - computeDesired(spec, tally.ungrouped).desired;
  const expected = budget.status?.totalReplicas ?? 0;
  if (spec.podGroupPolicy !== undefined) return tally.availableGroups - computeDesired(spec, expected).desired;
  return budget.status?.unavailableAllowed ?? 0;
}

/** The group of a LeaderWorkerSet that a pod is in. */
function keyInSet({ metadata }: Pod): string | undefined {
  const name = setGroupOf(metadata.labels);
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

/** The group that one of the budgets counts a pod in, by the name that every answer gives it. */
function namedUnit(index: DisruptionIndex, views: readonly BudgetView[], { metadata }: Pod) {
  const view = views.find(({ unit }) => unit !== undefined);
  const name = view && index.unitName(metadata.namespace ?? '', metadata.name ?? '', view.budget.name);
  return view?.unit === undefined || name === undefined
    ? undefined
    : { name, healthy: view.unit.healthy, minCount: view.unit.minCount };
}
