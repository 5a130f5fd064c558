import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import { builtinType } from '../../api/registry.ts';
import type { KubeObject } from '../../api/resource.ts';
import { podDisruptionBudgetType, podType, replicaSetType, statefulSetType } from '../../api/resource-types.ts';
import {
  computeDesired,
  DisruptionIndex,
  readBudget,
  readPod,
  readPodGroup,
  readWorkload,
} from '../../decisions/disruption/index.ts';
import { BudgetIndexes, isReady, targetsAbove } from '../../decisions/unavailability/index.ts';
import type { ControllerContext, Informer, RunningController } from '../../machinery/runtime/index.ts';
import { idOf, UnitFinder } from '../plan/units.ts';

/** Where one budget stands at one moment. */
export interface BudgetSample {
  /** `namespace/name`, with the kind's short name before it. */
  readonly id: string;
  readonly unit: 'groups' | 'pods';
  readonly available: number;
  readonly desired: number;
}

export interface Sample {
  readonly budgets: readonly BudgetSample[];
  /** Groups by name, and whether they serve. */
  readonly groups: ReadonlyMap<string, { readonly up: boolean; readonly budgets: readonly string[] }>;
  readonly pods: { readonly ready: number; readonly total: number; readonly pending: number };
}

/** Follows the plane with the same counts that decisions are made on. */
export class Observer {
  readonly #index = new DisruptionIndex();
  readonly #every = new DisruptionIndex();
  readonly #unavailability = new BudgetIndexes();
  readonly #wholesale = new Set<string>();
  readonly #unavailable = new Map<string, string>();
  #pods: Informer<Pod> | undefined;
  #dirty = true;
  #last: Sample | undefined;

  readonly start = (context: ControllerContext): RunningController => {
    const { informers } = context;
    const pods = informers.of(podType);
    const replicaSets = informers.of(replicaSetType);
    const statefulSets = informers.of(statefulSetType);
    this.#pods = pods;
    const onPod = (pod: Pod): void => {
      this.#dirty = true;
      const facts = readPod(pod);
      this.#index.setPod(facts);
      this.#ensureEverything(facts.namespace);
      this.#every.setPod(facts);
      const targets = targetsAbove(pod, ({ kind, name }) => {
        const key = { namespace: facts.namespace, name };
        const owner = kind === 'ReplicaSet' ? replicaSets.get(key) : statefulSets.get(key);
        return owner === undefined ? undefined : controllerOf(owner);
      });
      this.#unavailability.of(facts.namespace).setPod({ pod, targets });
    };
    pods.addHandler({
      added: onPod,
      updated: onPod,
      deleted: ({ metadata: { name = '', namespace = '' } }) => {
        this.#dirty = true;
        this.#index.deletePod(namespace, name);
        this.#every.deletePod(namespace, name);
        this.#unavailability.of(namespace).deletePod(name);
      },
    });
    // Owners may be seen after their pods.
    const again = (): void => {
      for (const pod of pods.list()) onPod(pod);
    };
    replicaSets.addHandler({ added: again });
    statefulSets.addHandler({ added: again });
    this.#followBudgets(context);
    this.#followGroups(context);
    return { name: 'observer', queues: [] };
  };

  #followBudgets({ informers }: ControllerContext): void {
    const onBudget = (budget: Parameters<typeof readBudget>[0]): void => {
      this.#dirty = true;
      this.#index.setBudget(readBudget(budget));
    };
    informers.of(podDisruptionBudgetType).addHandler({
      added: onBudget,
      updated: onBudget,
      deleted: ({ metadata: { name = '', namespace = '' } }) => this.#index.deleteBudget(namespace, name),
    });
    const onUnavailable = (budget: Parameters<ReturnType<BudgetIndexes['of']>['setBudget']>[0]): void => {
      this.#dirty = true;
      const { name = '', namespace = '' } = budget.metadata;
      this.#unavailable.set(`${namespace}/${name}`, namespace);
      this.#unavailability.of(namespace).setBudget(budget);
    };
    informers.of(POD_UNAVAILABLE_BUDGETS).addHandler({ added: onUnavailable, updated: onUnavailable });
  }

  #followGroups({ informers }: ControllerContext): void {
    const scheduling = 'scheduling.k8s.io';
    const onWorkload = (object: KubeObject): void => {
      const { name = '', namespace = '' } = object.metadata;
      for (const index of [this.#index, this.#every]) index.setWorkload(namespace, name, readWorkload(object));
    };
    const onGroup = (object: KubeObject): void => {
      const { name = '', namespace = '' } = object.metadata;
      for (const index of [this.#index, this.#every]) index.setPodGroup(namespace, name, readPodGroup(object));
    };
    informers
      .of(builtinType('Workload', scheduling, 'v1alpha1'))
      .addHandler({ added: onWorkload, updated: onWorkload });
    informers.of(builtinType('PodGroup', scheduling, 'v1beta1')).addHandler({ added: onGroup, updated: onGroup });
    informers.of(leaderWorkerSetType).addHandler({
      added: ({ metadata, spec }) => {
        const restarts = (spec?.leaderWorkerTemplate?.restartPolicy ?? 'RecreateGroupOnPodRestart') !== 'None';
        if (restarts) this.#wholesale.add(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
      },
    });
  }

  #ensureEverything(namespace: string): void {
    if (this.#every.budget(namespace, 'everything') !== undefined) return;
    const budget = { metadata: { name: 'everything', namespace }, spec: { minAvailable: 0, selector: {} } };
    this.#every.setBudget({ ...readBudget(budget), scope: 'PodGroup' });
  }

  /** The state of this moment; the same object while nothing has changed. */
  sample(now: number): Sample {
    if (!this.#dirty && this.#last !== undefined) return this.#last;
    this.#dirty = false;
    const pods = (this.#pods?.list() ?? []).filter(
      ({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
    const finder = new UnitFinder(
      {
        index: this.#index,
        everyGroup: this.#every,
        unavailability: this.#unavailability,
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
    for (const { name, namespace } of this.#index.budgets()) {
      const count = this.#index.count(namespace, name, now);
      if (count === undefined) continue;
      const inGroups = count.mode.unit === 'PodGroup';
      const desired = inGroups ? computeDesired(count.budget, count.expectedUnits) : count.budget.status.desiredHealthy;
      yield { id: `${namespace}/${name}`, unit: inGroups ? 'groups' : 'pods', available: count.healthy, desired };
    }
  }

  *#unavailableSamples(): Generator<BudgetSample> {
    for (const [id, namespace] of this.#unavailable) {
      const entry = this.#unavailability.of(namespace).budget(id.slice(namespace.length + 1));
      if (entry === undefined) continue;
      const inGroups = entry.budget.spec?.podGroupPolicy !== undefined;
      yield {
        id: `${namespace}/pub/${id.slice(namespace.length + 1)}`,
        unit: inGroups ? 'groups' : 'pods',
        available: inGroups ? entry.tally.availableGroups : entry.tally.availablePods,
        desired: entry.budget.status?.desiredAvailable ?? 0,
      };
    }
  }
}
