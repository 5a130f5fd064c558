import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import { LWS } from '../../api/lws/types.ts';
import { isLimitReason } from '../policies/index.ts';
import { type BudgetView, judgeEviction, type DisruptionIndex, type Refusal, setGroupOf } from '../disruption/index.ts';
import type { PlanBudget, PlanCell, PlanUnit } from '../drain-plan/index.ts';
import {
  declaredSize,
  explainUnavailability,
  isReady,
  type Scope,
  scopeOf,
  type UnavailabilityFeed,
} from '../unavailability/index.ts';

export interface UnitSources {
  readonly index: DisruptionIndex;
  readonly unavailability: UnavailabilityFeed;
  /** LeaderWorkerSets whose groups restart as a whole, as `namespace/name`. */
  readonly wholesaleSets: ReadonlySet<string>;
  /** Nodes that will take no more pods when evictions begin; only asked for budgets that look ahead. */
  readonly isCordoned?: ((node: string) => boolean) | undefined;
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

/** Refusals that the numbers of the budgets say themselves. */
const IN_NUMBERS: ReadonlySet<string> = new Set(['BudgetExhausted', 'BuiltInCountTighter', 'MultipleBudgets']);

/** What a PodUnavailableBudget lets go without counting it. */
const NOT_ASKED: ReadonlySet<string> = new Set([
  'Unprotected',
  'NotServing',
  'Ignored',
  'NothingDesired',
  'OperationNotProtected',
  'AlreadyRecorded',
  'NamespaceGoing',
  'OwnerGone',
  'OwnerGoing',
]);

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

  /** The unit of a pod whatever any budget says of it now. */
  unitOf(pod: Pod): Pick<PlanUnit, 'id' | 'healthy' | 'needed'> {
    const { name = '', namespace = '' } = pod.metadata;
    const views = this.#sources.index.ask(namespace, name, this.#now)?.views ?? [];
    return this.#unitOf(pod, this.#groupOf(pod, views), this.#unavailability(pod));
  }

  #groupOf(pod: Pod, views: readonly BudgetView[]): NamedUnit | undefined {
    const { name = '', namespace = '' } = pod.metadata;
    const { everyGroup, index } = this.#sources;
    return (
      namedUnit(index, views, pod) ??
      namedUnit(everyGroup, everyGroup.ask(namespace, name, this.#now)?.views ?? [], pod)
    );
  }

  find(pod: Pod): FoundUnit {
    const { name = '', namespace = '' } = pod.metadata;
    const { index } = this.#sources;
    const question = index.ask(namespace, name, this.#now);
    const views = question?.views ?? [];
    const isCordoned = this.#sources.isCordoned ?? (() => false);
    const verdict = judgeEviction(index, { namespace, name }, this.#now, { isCordoned, room: false });
    const unavailable = this.#unavailability(pod);
    // What no budget asks about, now, goes by itself; its group may be one that budgets do count.
    const isAlone = index.asOne(namespace, name) === undefined;
    if (isAlone && views.length > 0 && verdict?.allowed === true && verdict.charge === undefined) {
      const alone = { id: idOf(pod), healthy: 0, needed: 1, budgets: [], wholesale: false };
      return { unit: alone, cells: unavailable, contested: [] };
    }
    const group = this.#groupOf(pod, views);
    const unit = { ...this.#unitOf(pod, group, unavailable), wholesale: this.#isWholesale(pod) };
    const cells = unavailable.filter(({ id }) => id !== unit.id);
    const own: string[] = [];
    for (const view of views) {
      const id = `${namespace}/${view.budget.name}`;
      this.#budgets.set(id, { id, allowance: Math.min(view.live - view.desired, view.allowed) });
      const isUnit = unit.id === idOf(pod) && isReady(pod);
      if (view.unit !== undefined || (view.mode.unit === 'Pod' && isUnit)) own.push(id);
      // A budget that counts pods counts this one beside its group; one that counts groups needs to hold all the same.
      else cells.push({ id: idOf(pod), budget: id, healthy: view.mode.unit === 'Pod' ? 1 : 0, needed: 1 });
    }
    for (const view of views) cells.push(...this.#publishedCells(pod, view));
    if (verdict?.allowed === false) cells.push(...this.#refusedOutright(pod, verdict));
    const shared = unavailable.filter(({ id }) => id === unit.id).map(({ budget }) => budget);
    return {
      unit: { ...unit, budgets: [...own, ...shared] },
      cells,
      contested: views.length > 1 ? views.map(({ budget }) => `${namespace}/${budget.name}`) : [],
    };
  }

  /** Where groups are judged first, the API server counts pods all the same. */
  #publishedCells(pod: Pod, { budget, published }: BudgetView): PlanCell[] {
    if (published === undefined || published.disruptionsAllowed === Number.POSITIVE_INFINITY) return [];
    const id = `${budget.namespace}/${budget.name} (as Kubernetes counts pods)`;
    this.#budgets.set(id, { id, allowance: published.disruptionsAllowed });
    return [{ id: idOf(pod), budget: id, healthy: isReady(pod) ? 1 : 0, needed: 1 }];
  }

  /** A budget whose numbers cannot be used lets nothing go, whatever they are. */
  #refusedOutright(pod: Pod, { policies = [], reason, views: [view] }: Refusal): PlanCell[] {
    const outright = policies.map(({ policy, reason: limit }) => `${policy} (${limit})`);
    if (view !== undefined && !IN_NUMBERS.has(reason) && !isLimitReason(reason)) {
      outright.push(`${view.budget.namespace}/${view.budget.name} (${reason})`);
    }
    return outright.map((id) => {
      this.#budgets.set(id, { id, allowance: -1 });
      return { id: idOf(pod), budget: id, healthy: 0, needed: 1 };
    });
  }

  #unitOf(
    pod: Pod,
    group: NamedUnit | undefined,
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

  /** It restarts as one, or may only be disrupted as one. */
  #isWholesale(pod: Pod): boolean {
    const { labels, name = '', namespace = '' } = pod.metadata;
    if (this.#sources.index.asOne(namespace, name) !== undefined) return true;
    const set = labels?.[LWS.name];
    return set !== undefined && this.#sources.wholesaleSets.has(`${namespace}/${set}`);
  }

  /** What PodUnavailableBudgets count this pod as. */
  #unavailability(pod: Pod): PlanCell[] {
    const { name = '', namespace = '' } = pod.metadata;
    const cells: PlanCell[] = [];
    const { indexes, scaleOf } = this.#sources.unavailability;
    const index = indexes.of(namespace);
    const leftover = this.#sources.unavailability.leftoverIn(namespace);
    const question = { gates: GATES, scaleOf, nowMs: this.#now, leftover };
    const opinions = new Map(explainUnavailability(index, name, question).map((one) => [one.budget, one]));
    for (const entry of index.covering(name)) {
      const { budget, tally } = entry;
      const { reason = 'NotServing' } = opinions.get(budget.metadata.name ?? '') ?? {};
      if (NOT_ASKED.has(reason)) continue;
      if (reason === 'StatusStale' || reason === 'LedgerFull') {
        const id = `${namespace}/pub/${budget.metadata.name ?? ''} (${reason})`;
        this.#budgets.set(id, { id, allowance: -1 });
        cells.push({ id: idOf(pod), budget: id, healthy: 0, needed: 1 });
        continue;
      }
      const id = `${namespace}/pub/${budget.metadata.name ?? ''}`;
      const scope = scopeOf(entry, tally.pods.get(name), scaleOf);
      const counts = scope.kind === 'Ungrouped' ? `${id} (pods in no group)` : id;
      this.#budgets.set(counts, { id: counts, allowance: allowanceOf(budget, scope) });
      cells.push(
        scope.kind === 'Group'
          ? { id: `${id}/${scope.identity}`, budget: id, healthy: scope.ready, needed: scope.needed }
          : { id: idOf(pod), budget: counts, healthy: isReady(pod) ? 1 : 0, needed: 1 },
      );
    }
    return cells;
  }
}

interface NamedUnit {
  readonly name: string;
  readonly healthy: number;
  readonly minCount: number;
}

/** What is seen of one group of a LeaderWorkerSet. */
interface SetGroup {
  readonly seen: number;
  readonly size: number;
  readonly healthy: number;
}

/** Groups or pods a budget can lose now. */
function allowanceOf({ status }: PodUnavailableBudget, scope: Scope): number {
  if (scope.kind === 'Pods') return status?.unavailableAllowed ?? 0;
  return (scope.kind === 'Group' ? scope.availableGroups : scope.available) - scope.desired;
}

/** The group of a LeaderWorkerSet that a pod is in. */
function keyInSet({ metadata }: Pod): string | undefined {
  const name = setGroupOf(metadata.labels);
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

/** The group that one of the budgets counts a pod in, by the name that every answer gives it. */
function namedUnit(index: DisruptionIndex, views: readonly BudgetView[], { metadata }: Pod): NamedUnit | undefined {
  const view = views.find(({ unit }) => unit !== undefined);
  const name = view && index.unitName(metadata.namespace ?? '', metadata.name ?? '', view.budget.name);
  return view?.unit === undefined || name === undefined
    ? undefined
    : { name, healthy: view.unit.healthy, minCount: view.unit.minCount };
}
