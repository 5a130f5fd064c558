import { leaderWorkerSetType } from '../../api/lws/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { podType } from '../../api/resource-types.ts';
import { computeDesired, DisruptionIndex, FED_KINDS, guardEverything } from '../../decisions/disruption/index.ts';
import { UNAVAILABILITY_KINDS, UnavailabilityFeed } from '../../decisions/unavailability/index.ts';
import type {
  Clock,
  Controller,
  ControllerContext,
  FollowedKind,
  RunningController,
} from '../../machinery/runtime/index.ts';
import { idOf, isWholesale } from '../../decisions/drain-question/index.ts';
import type { DrainLook } from '../plan/index.ts';
import { type GroupStanding, Standings } from './standings.ts';

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
  readonly groups: ReadonlyMap<string, GroupStanding>;
  readonly pods: { readonly ready: number; readonly total: number; readonly pending: number };
}

/** Follows the plane with the same counts that decisions are made on. */
export class Observer implements Controller {
  readonly name = 'observer';
  readonly index = new DisruptionIndex();
  readonly unavailability = new UnavailabilityFeed();
  readonly #every = new DisruptionIndex();
  readonly #wholesale = new Set<string>();
  readonly #standings = new Standings({
    index: this.index,
    everyGroup: this.#every,
    unavailability: this.unavailability,
    wholesaleSets: this.#wholesale,
  });
  #dirty = true;
  /** Pods that were made and pods that are gone, since somebody asked. */
  readonly #changes: { readonly pod: string; readonly what: 'is made' | 'is gone' }[] = [];
  #last: SimulatedSample | undefined;

  readonly start = ({ informers }: ControllerContext): RunningController => {
    const pods = informers.of(podType);
    pods.addHandler({
      added: (pod) => void this.#changes.push({ pod: idOf(pod), what: 'is made' }),
      deleted: (pod) => void this.#changes.push({ pod: idOf(pod), what: 'is gone' }),
    });
    const follow = (
      { kind, role, types: [type] }: FollowedKind & { readonly kind: string; readonly role: string },
      set: (object: KubeObject) => void,
      drop: (namespace: string, name: string) => void,
    ): void => {
      // The world of a simulation serves what Kubernetes serves, and needs no definitions of ours in its place.
      if (type === undefined || type.group === OWN_SCHEDULING_GROUP) return;
      informers.of(type).addHandler({
        added: (object) => {
          this.#dirty = true;
          set(object);
          this.#regroup({ kind, role }, object);
        },
        updated: (object, old) => {
          this.#dirty = true;
          set(object);
          if (object.metadata.generation !== old.metadata.generation) this.#regroup({ kind, role }, object, old);
        },
        deleted: (object) => {
          this.#dirty = true;
          const { name = '', namespace = '' } = object.metadata;
          drop(namespace, name);
          this.#regroup({ kind, role }, object, object);
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
    // After both indexes know of it.
    pods.addHandler({
      added: (pod) => this.#standings.setPod(pod),
      updated: (pod) => this.#standings.setPod(pod),
      deleted: (pod) => this.#standings.deletePod(idOf(pod)),
    });
    informers.of(leaderWorkerSetType).addHandler({
      added: (set) => {
        const { name = '', namespace = '' } = set.metadata;
        if (isWholesale(set)) this.#wholesale.add(`${namespace}/${name}`);
      },
    });
    return { name: 'observer', queues: [] };
  };

  /** For a drain by plan: what it would else list, every second. */
  lookAt(clock: Pick<Clock, 'now'>): DrainLook {
    return {
      restMs: () => 0,
      uids: () => Promise.resolve(this.#standings.uids()),
      serving: (units) => {
        const found = [...units].map((unit) => [unit, this.#standings.serves(unit, clock.now())] as const);
        return Promise.resolve(new Map(found.filter((one): one is [string, boolean] => one[1] !== undefined)));
      },
    };
  }

  /** Budgets and groups say what a pod moves with. A new group changes that only of pods which came before it. */
  #regroup(
    { kind, role }: { readonly kind: string; readonly role: string },
    { metadata: { name = '', namespace = '' } }: KubeObject,
    before?: KubeObject,
  ): void {
    if (role === 'Group' && before === undefined) this.#standings.regroupLoners(namespace);
    else if (kind === 'PodGroup') this.#standings.regroupGang(namespace, name);
    else if (role === 'Budget' || role === 'Group') this.#standings.regroup(namespace);
  }

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
    const budgets = [...this.#disruption(now), ...this.#unavailableSamples()];
    this.#last = { budgets, groups: this.#standings.groups(now), pods: this.#standings.counts };
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
