import { wasEvicted } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { LeaderWorkerSet } from '../../api/lws/types.ts';
import { fromKruise, kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../../api/lws/types.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget, type TargetReference } from '../../api/kruise/types.ts';
import { type KubeObject, keyOf } from '../../api/resource.ts';
import {
  deploymentType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../api/resource-types.ts';
import {
  type BudgetIndex,
  BudgetIndexes,
  OWNER_TYPES,
  UnavailabilityFeed,
} from '../../decisions/unavailability/index.ts';
import {
  type ControllerContext,
  Gathering,
  type RunningController,
  runController,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { isAsNewAs } from '../../machinery/values/index.ts';
import { createScaleClient, createScaleFinder } from '../scale-lookup/index.ts';
import { createBudgetGauges } from './metrics.ts';
import type { MarkedPods } from './mark-pods.ts';
import { reconcileBudget } from './reconcile.ts';

export interface PodUnavailableBudgetOptions {
  /** The counts, for a caller that decides on them as well. */
  readonly feed?: UnavailabilityFeed | undefined;
  /** Whether LeaderWorkerSets are served; without their definitions there is nothing to follow. */
  readonly leaderWorkerSets?: boolean | undefined;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat?: boolean | undefined;
  /**
   * How long to gather what granted evictions bring about before the numbers are written. Granting has already charged
   * the budget, so decisions do not wait for it. Everything else is written at once. Default 0.
   */
  readonly gatherMs?: number | undefined;
  /** Others decide by this status and by pods they follow themselves: tell them how new theirs must be. Default false. */
  readonly forReplicas?: boolean | undefined;
}

/** Keeps the status of PodUnavailableBudgets. */
export function createPodUnavailableBudgetController(options: PodUnavailableBudgetOptions = {}): StartController {
  return (context) => run(context, options);
}

function run(context: ControllerContext, options: PodUnavailableBudgetOptions): RunningController {
  const { client, clock, informers, metrics } = context;
  const budgets = informers.of(POD_UNAVAILABLE_BUDGETS);
  const pods = informers.of(podType);
  const replicaSets = informers.of(replicaSetType);
  const deployments = informers.of(deploymentType);
  const statefulSets = informers.of(statefulSetType);
  const controllers = informers.of(replicationControllerType);
  const { compat = false, leaderWorkerSets = true } = options;
  const gathering = new Gathering(clock, options.gatherMs ?? 0);
  const sets = leaderWorkerSets ? informers.of(leaderWorkerSetType) : undefined;
  const kruiseSets = leaderWorkerSets ? informers.of(kruiseLeaderWorkerSetType) : undefined;

  const feed = options.feed ?? new UnavailabilityFeed(new BudgetIndexes({ compat }));
  const index = (namespace: string): BudgetIndex => feed.indexes.of(namespace);
  const scales = createScaleClient(client);
  const findScale = createScaleFinder({ controllers, deployments, replicaSets, scales, statefulSets });
  const leaderWorkerSet = (namespace: string, name: string): LeaderWorkerSet | undefined => {
    const kruise = kruiseSets?.get({ namespace, name });
    return sets?.get({ namespace, name }) ?? (kruise === undefined ? undefined : fromKruise(kruise));
  };
  const replicasOf = async ({ apiVersion = '', kind = '', name = '' }: TargetReference, namespace: string) => {
    const known =
      kind === 'Deployment'
        ? deployments.get({ namespace, name })
        : kind === 'StatefulSet'
          ? statefulSets.get({ namespace, name })
          : kind === 'ReplicaSet'
            ? replicaSets.get({ namespace, name })
            : kind === 'LeaderWorkerSet'
              ? leaderWorkerSet(namespace, name)
              : undefined;
    if (known !== undefined) return known.metadata.deletionTimestamp ? undefined : (known.spec?.replicas ?? 1);
    return (await scales.get({ apiVersion, kind, name, uid: '' }, namespace))?.scale;
  };

  const gauges = createBudgetGauges(metrics);
  const shortSince = new Map<string, number>();
  const marked = new Map<string, MarkedPods>();
  const { queue } = runController({
    name: 'pod-unavailable-budget',
    context,
    ready: async () => {
      const needed = [budgets, pods, replicaSets, deployments, statefulSets, controllers, sets, kruiseSets];
      await Promise.all(needed.flatMap((informer) => informer?.whenSynced() ?? []));
    },
    reconcile: (key) =>
      reconcileBudget(
        {
          client,
          clock,
          events: context.eventsFor('pub-controller'),
          index,
          gauges,
          shortSince,
          marked,
          podsResourceVersion: options.forReplicas === true ? () => pods.changedAt : undefined,
          sources: {
            findScale,
            replicasOf,
            leaderWorkerSet,
            pod: (namespace, name) => pods.get({ namespace, name }),
            compat,
          },
        },
        key,
      ),
  });

  const wakeNamespace = ({ metadata }: KubeObject): void => {
    for (const { budget } of index(metadata.namespace ?? '').budgets()) queue.add(keyOf(budget));
  };
  const see = (budget: PodUnavailableBudget): void => {
    const { name = '', namespace = '', resourceVersion = '', uid } = budget.metadata;
    const known = index(namespace).budget(name)?.budget.metadata;
    // A charge written here is in the index at once; the watch shows it later, and what came before it first.
    const isPast = known?.uid === uid && !isAsNewAs(resourceVersion, known?.resourceVersion ?? '');
    if (!isPast) index(namespace).setBudget(budget);
  };
  budgets.addHandler({
    added: (budget) => {
      see(budget);
      queue.add(keyOf(budget));
    },
    updated: (budget, old) => {
      see(budget);
      // Only the numbers changed: by a charge, or by this controller itself.
      const asksTheSame =
        budget.metadata.generation !== undefined &&
        budget.metadata.generation === old.metadata.generation &&
        budget.metadata.uid === old.metadata.uid;
      const key = keyOf(budget);
      queue.addAfter(key, asksTheSame ? gathering.delayMs(key) : 0);
    },
    deleted: (budget) => {
      index(budget.metadata.namespace ?? '').deleteBudget(budget.metadata.name ?? '');
      gathering.forget(keyOf(budget));
      queue.add(keyOf(budget));
    },
  });
  const wakeCovering = (pod: Pod, going: boolean): void => {
    const { name = '', namespace = '' } = pod.metadata;
    const isEffect = going && wasEvicted(pod);
    for (const { budget } of index(namespace).covering(name)) {
      const key = keyOf(budget);
      queue.addAfter(key, isEffect ? gathering.delayMs(key) : 0);
    }
  };
  const place = (pod: Pod): void => {
    const { deletionTimestamp } = pod.metadata;
    wakeCovering(pod, deletionTimestamp !== undefined);
    feed.setPod(pod);
    wakeCovering(pod, deletionTimestamp !== undefined);
  };
  pods.addHandler({
    added: place,
    updated: place,
    deleted: (pod) => {
      wakeCovering(pod, true);
      feed.deletePod(pod.metadata.namespace ?? '', pod.metadata.name ?? '');
    },
  });
  for (const type of OWNER_TYPES) {
    // Pods may be seen before what stands above them.
    const own = (object: KubeObject): void => {
      for (const pod of feed.setOwner(type.kind, object))
        wakeCovering(pod, pod.metadata.deletionTimestamp !== undefined);
    };
    informers.of(type).addHandler({
      added: own,
      updated: own,
      deleted: ({ metadata: { name = '', namespace = '' } }) => feed.deleteOwner(type.kind, namespace, name),
    });
  }
  statefulSets.addHandler({ updated: (set, old) => wakeOnResize(set, old, wakeNamespace) });
  deployments.addHandler({
    added: wakeNamespace,
    updated: (set, old) => wakeOnResize(set, old, wakeNamespace),
    deleted: wakeNamespace,
  });
  for (const informer of [sets, kruiseSets]) {
    informer?.addHandler({ added: wakeNamespace, updated: wakeNamespace, deleted: wakeNamespace });
  }
  return { name: 'pod-unavailable-budget', queues: [queue] };
}

type Sized = KubeObject & { spec?: { replicas?: number | undefined } | undefined };

function wakeOnResize(object: Sized, old: Sized, wake: (object: KubeObject) => void): void {
  if (object.spec?.replicas !== old.spec?.replicas) wake(object);
}
