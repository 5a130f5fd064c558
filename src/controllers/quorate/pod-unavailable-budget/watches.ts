import { wasEvicted } from '../../../api/core/pod-state.ts';
import type { Deployment, StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PodUnavailableBudget } from '../../../api/kruise/types.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import type { BudgetIndex, UnavailabilityFeed } from '../../../decisions/unavailability/index.ts';
import {
  type Debounce,
  type Informer,
  type Wake,
  type Watch,
  type Watchable,
  watch,
} from '../../../machinery/runtime/index.ts';

export interface Watched {
  readonly budgets: Informer<PodUnavailableBudget>;
  readonly pods: Informer<Pod>;
  readonly deployments: Informer<Deployment>;
  readonly statefulSets: Informer<StatefulSet>;
  /** LeaderWorkerSets in the spellings that are served. */
  readonly leaderWorkerSets: readonly Watchable[];
  /** What may stand between a pod and what a budget targets. */
  readonly owners: readonly { readonly type: ResourceType; readonly informer: Informer<KubeObject> }[];
  readonly feed: UnavailabilityFeed;
  readonly index: (namespace: string) => BudgetIndex;
  readonly debounce: Debounce;
}

/** Feeds the counts, and wakes the budgets whose numbers an event may change. */
export function watchEverything(watched: Watched): Watch[] {
  const { deployments, index, leaderWorkerSets, statefulSets } = watched;
  const inNamespace = ({ metadata }: KubeObject): string[] =>
    [...index(metadata.namespace ?? '').budgets()].map(({ budget }) => keyOf(budget));
  const onResize = (object: Sized, old: Sized): string[] =>
    object.spec?.replicas === old.spec?.replicas ? [] : inNamespace(object);
  return [
    watchBudgets(watched),
    watchPods(watched),
    ...watchOwners(watched),
    watch(statefulSets, { updated: onResize }),
    watch(deployments, { added: inNamespace, updated: onResize, deleted: inNamespace }),
    ...leaderWorkerSets.map((informer) => watch(informer, inNamespace)),
  ];
}

type Sized = KubeObject & { spec?: { replicas?: number | undefined } | undefined };

function watchBudgets({ budgets, debounce, index }: Watched): Watch {
  const see = (budget: PodUnavailableBudget): void => index(budget.metadata.namespace ?? '').setBudget(budget);
  return watch(budgets, {
    added(budget) {
      see(budget);
      return keyOf(budget);
    },
    updated(budget, { metadata: old }) {
      see(budget);
      const { generation, uid } = budget.metadata;
      const key = keyOf(budget);
      // Only the numbers changed: by a charge, or by this controller itself.
      const asksTheSame = generation !== undefined && generation === old.generation && uid === old.uid;
      return { key, afterMs: asksTheSame ? debounce.delayMs(key) : 0 };
    },
    deleted(budget) {
      index(budget.metadata.namespace ?? '').deleteBudget(budget.metadata.name ?? '');
      debounce.forget(keyOf(budget));
      return keyOf(budget);
    },
  });
}

function watchPods({ feed, debounce, index, pods }: Watched): Watch {
  const place = (pod: Pod): Wake[] => {
    const going = isGoing(pod);
    const before = covering({ debounce, index }, pod, going);
    feed.setPod(pod);
    return [...before, ...covering({ debounce, index }, pod, going)];
  };
  return watch(pods, {
    added: place,
    updated: place,
    deleted(pod) {
      const before = covering({ debounce, index }, pod, true);
      feed.deletePod(pod.metadata.namespace ?? '', pod.metadata.name ?? '');
      return before;
    },
  });
}

function watchOwners({ feed, debounce, index, owners }: Watched): Watch[] {
  return owners.map(({ informer, type }) => {
    // Pods may be seen before what stands above them.
    const own = (object: KubeObject): Wake[] =>
      feed.setOwner(type.kind, object).flatMap((pod) => covering({ debounce, index }, pod, isGoing(pod)));
    return watch(informer, {
      added: own,
      updated: own,
      deleted: ({ metadata: { name = '', namespace = '' } }) => feed.deleteOwner(type.kind, namespace, name),
    });
  });
}

const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** The budgets that cover a pod. What a granted eviction brings about may wait: granting has charged them. */
function covering({ debounce, index }: Pick<Watched, 'debounce' | 'index'>, pod: Pod, going: boolean): Wake[] {
  const { name = '', namespace = '' } = pod.metadata;
  const isEffect = going && wasEvicted(pod);
  return [...index(namespace).covering(name)].map(({ budget }) => {
    const key = keyOf(budget);
    return { key, afterMs: isEffect ? debounce.delayMs(key) : 0 };
  });
}
