import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { builtinType } from '../api/registry.ts';
import type { ResourceType } from '../api/resource.ts';
import { podType } from '../api/resource-types.ts';
import {
  DisruptionIndex,
  openAccount,
  readBudget,
  readPod,
  readPodGroup,
  readWorkload,
} from '../decisions/disruption/index.ts';
import type { ChargeBudgets } from '../decisions/gang/index.ts';
import type { ControllerContext } from '../machinery/runtime/index.ts';
import type { GroupBook, GroupChange } from './group-objects.ts';

const budgetType = builtinType('PodDisruptionBudget', 'policy') as ResourceType<PodDisruptionBudget>;

/** Judges preemption by the same budgets, counted the same way, as evictions are. */
export class Budgets {
  readonly #index = new DisruptionIndex();
  readonly #context: ControllerContext;
  readonly #groups: GroupBook;

  constructor(context: ControllerContext, groups: GroupBook) {
    this.#context = context;
    this.#groups = groups;
  }

  follow(): Promise<unknown> {
    const { informers } = this.#context;
    const index = this.#index;
    const pods = informers.of(podType);
    pods.addHandler({
      added: (pod) => index.setPod(readPod(pod)),
      updated: (pod) => index.setPod(readPod(pod)),
      deleted: ({ metadata }) => index.deletePod(metadata.namespace ?? '', metadata.name ?? ''),
    });
    const budgets = informers.of(budgetType);
    const put = (budget: PodDisruptionBudget): void => {
      const { name = '', namespace = '' } = budget.metadata;
      index.setBudget(readBudget(budget, index.budget(namespace, name)));
    };
    budgets.addHandler({
      added: put,
      updated: put,
      deleted: ({ metadata }) => index.deleteBudget(metadata.namespace ?? '', metadata.name ?? ''),
    });
    return Promise.all([pods.whenSynced(), budgets.whenSynced()]);
  }

  groupChanged({ kind, name, namespace }: GroupChange): void {
    const objects = this.#groups.in(namespace);
    if (kind === 'PodGroup') {
      const object = objects.podGroup(name);
      this.#index.setPodGroup(namespace, name, object && readPodGroup(object));
    } else {
      const object = objects.workload(name);
      this.#index.setWorkload(namespace, name, object && readWorkload(object));
    }
  }

  open(): ChargeBudgets {
    const judge = openAccount(this.#index, this.#context.clock.now());
    return (pods) => !judge(pods.map(({ name, namespace }) => ({ name, namespace }))).allowed;
  }
}
