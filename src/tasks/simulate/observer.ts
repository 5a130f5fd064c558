import type { Pod } from '../../api/generated/core-v1.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { podType } from '../../api/resource-types.ts';
import { computeDesired, DisruptionIndex, FED_KINDS, guardEverything } from '../../decisions/disruption/index.ts';
import { isReady, UNAVAILABILITY_KINDS, UnavailabilityFeed } from '../../decisions/unavailability/index.ts';
import type {
  Controller,
  ControllerContext,
  FollowedKind,
  Informer,
  RunningController,
} from '../../machinery/runtime/index.ts';
import { idOf, isWholesale, UnitFinder } from '../../decisions/drain-question/index.ts';

/** Where one budget stands at one moment. */
export interface BudgetSample {
  /** `namespace/name`, with the kind's short name before it. */
  readonly id: string;
  readonly unit: 'groups' | 'pods';
  readonly available: number;
  readonly desired: number;
}

export interface SimulatedSample {
  readonly budgets: readonly BudgetSample[];
  /** Groups by name, and whether they serve. */
  readonly groups: ReadonlyMap<string, { readonly up: boolean; readonly budgets: readonly string[] }>;
  readonly pods: { readonly ready: number; readonly total: number; readonly pending: number };
}

/** Follows the plane with the same counts that decisions are made on. */
export class Observer implements Controller {
  readonly name = 'observer';
  readonly index = new DisruptionIndex();
  readonly unavailability = new UnavailabilityFeed();
  readonly #every = new DisruptionIndex();
  readonly #wholesale = new Set<string>();
  #pods: Informer<Pod> | undefined;
  #dirty = true;
  /** Pods that were made and pods that are gone, since somebody asked. */
  readonly #changes: { readonly pod: string; readonly what: 'is made' | 'is gone' }[] = [];
  #last: SimulatedSample | undefined;

  readonly start = ({ informers }: ControllerContext): RunningController => {
    this.#pods = informers.of(podType);
    this.#pods.addHandler({
      added: (pod) => void this.#changes.push({ pod: idOf(pod), what: 'is made' }),
      deleted: (pod) => void this.#changes.push({ pod: idOf(pod), what: 'is gone' }),
    });
    const follow = (
      { types: [type] }: FollowedKind,
      set: (object: KubeObject) => void,
      drop: (namespace: string, name: string) => void,
    ): void => {
      // The world of a simulation serves what Kubernetes serves, and needs no definitions of ours in its place.
      if (type === undefined || type.group === OWN_SCHEDULING_GROUP) return;
      const seen = (object: KubeObject): void => {
        this.#dirty = true;
        set(object);
      };
      informers.of(type).addHandler({
        added: seen,
        updated: seen,
        deleted: ({ metadata: { name = '', namespace = '' } }) => {
          this.#dirty = true;
          drop(namespace, name);
        },
      });
    };
    for (const row of FED_KINDS) {
      const indexes = row.role === 'Budget' ? [this.index] : [this.index, this.#every];
      follow(
        row,
        (object) => {
          if (row.role === 'Pod') this.#ensureEverything(object.metadata.namespace ?? '');
          for (const index of indexes) row.set(index, object);
        },
        (namespace, name) => {
          for (const index of indexes) row.delete(index, namespace, name);
        },
      );
    }
    for (const row of UNAVAILABILITY_KINDS) {
      follow(
        row,
        (object) => row.set(this.unavailability, object),
        (namespace, name) => row.delete(this.unavailability, namespace, name),
      );
    }
    informers.of(leaderWorkerSetType).addHandler({
      added: (set) => {
        const { name = '', namespace = '' } = set.metadata;
        if (isWholesale(set)) this.#wholesale.add(`${namespace}/${name}`);
      },
    });
    return { name: 'observer', queues: [] };
  };

  #ensureEverything(namespace: string): void {
    if (this.#every.budget(namespace, 'everything') === undefined) guardEverything(this.#every, namespace);
  }

  takeChanges(): { readonly pod: string; readonly what: 'is made' | 'is gone' }[] {
    return this.#changes.splice(0);
  }

  /** The state of this moment; the same object while nothing has changed. */
  sample(now: number): SimulatedSample {
    if (!this.#dirty && this.#last !== undefined) return this.#last;
    this.#dirty = false;
    const pods = (this.#pods?.list() ?? []).filter(
      ({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
    const finder = new UnitFinder(
      {
        index: this.index,
        everyGroup: this.#every,
        unavailability: this.unavailability,
        wholesaleSets: this.#wholesale,
      },
      pods,
      now,
    );
    const groups = new Map<string, { up: boolean; budgets: readonly string[] }>();
    for (const pod of pods) {
      const { cells, unit } = finder.find(pod);
      if (unit.id === idOf(pod)) continue;
      const budgets = [...unit.budgets, ...cells.filter(({ id }) => id !== idOf(pod)).map(({ budget }) => budget)];
      groups.set(unit.id, { up: unit.healthy >= unit.needed, budgets });
    }
    this.#last = {
      budgets: [...this.#disruption(now), ...this.#unavailableSamples()],
      groups,
      pods: {
        total: pods.length,
        ready: pods.filter(isReady).length,
        pending: pods.filter(({ spec }) => !spec?.nodeName).length,
      },
    };
    return this.#last;
  }

  *#disruption(now: number): Generator<BudgetSample> {
    for (const { name, namespace } of this.index.budgets()) {
      const count = this.index.count(namespace, name, now);
      if (count === undefined) continue;
      const inGroups = count.mode.unit === 'PodGroup';
      const desired = inGroups ? computeDesired(count.budget, count.expectedUnits) : count.budget.status.desiredHealthy;
      yield { id: `${namespace}/${name}`, unit: inGroups ? 'groups' : 'pods', available: count.healthy, desired };
    }
  }

  *#unavailableSamples(): Generator<BudgetSample> {
    const { indexes } = this.unavailability;
    for (const namespace of indexes.namespaces()) {
      for (const { budget, tally } of indexes.of(namespace).budgets()) {
        const inGroups = budget.spec?.podGroupPolicy !== undefined;
        yield {
          id: `${namespace}/pub/${budget.metadata.name ?? ''}`,
          unit: inGroups ? 'groups' : 'pods',
          available: inGroups ? tally.availableGroups : tally.availablePods,
          desired: budget.status?.desiredAvailable ?? 0,
        };
      }
    }
  }
}
