import type { LeaderWorkerSet } from '../../api/lws/types.ts';
import { fromKruise, kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../../api/lws/types.ts';
import { POD_UNAVAILABLE_BUDGETS, type TargetReference } from '../../api/kruise/types.ts';
import { type KubeObject, keyOf } from '../../api/resource.ts';
import {
  deploymentType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../api/resource-types.ts';
import { type BudgetIndex, BudgetIndexes, targetsAbove } from '../../decisions/unavailability/index.ts';
import {
  type ControllerContext,
  type RunningController,
  runController,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { indexByController, ownedBy } from '../pod-control/index.ts';
import { createScaleClient, createScaleFinder } from '../scale-lookup/index.ts';
import { createBudgetGauges } from './metrics.ts';
import { reconcileBudget } from './reconcile.ts';
import { ownerAbove } from './targets.ts';

export interface PodUnavailableBudgetOptions {
  /** The counts, for a caller that decides on them as well. */
  readonly indexes?: BudgetIndexes | undefined;
  /** Whether LeaderWorkerSets are served; without their definitions there is nothing to follow. */
  readonly leaderWorkerSets?: boolean | undefined;
  /** OpenKruise's quirks instead of the safer rules. */
  readonly compat?: boolean | undefined;
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
  const sets = leaderWorkerSets ? informers.of(leaderWorkerSetType) : undefined;
  const kruiseSets = leaderWorkerSets ? informers.of(kruiseLeaderWorkerSetType) : undefined;

  const indexes = options.indexes ?? new BudgetIndexes({ compat });
  const index = (namespace: string): BudgetIndex => indexes.of(namespace);
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
  budgets.addHandler({
    added: (budget) => {
      index(budget.metadata.namespace ?? '').setBudget(budget);
      queue.add(keyOf(budget));
    },
    updated: (budget) => {
      index(budget.metadata.namespace ?? '').setBudget(budget);
      queue.add(keyOf(budget));
    },
    deleted: (budget) => {
      index(budget.metadata.namespace ?? '').deleteBudget(budget.metadata.name ?? '');
      queue.add(keyOf(budget));
    },
  });
  const wakeCovering = (namespace: string, name: string): void => {
    for (const { budget } of index(namespace).covering(name)) queue.add(keyOf(budget));
  };
  const place = (pod: Parameters<typeof targetsAbove>[0]): void => {
    const { name = '', namespace = '' } = pod.metadata;
    wakeCovering(namespace, name);
    index(namespace).setPod({
      pod,
      targets: targetsAbove(pod, (owner) => ownerAbove(owner, namespace, { replicaSets, statefulSets })),
    });
    wakeCovering(namespace, name);
  };
  pods.addHandler({
    added: place,
    updated: place,
    deleted: ({ metadata: { name = '', namespace = '' } }) => {
      wakeCovering(namespace, name);
      index(namespace).deletePod(name);
    },
  });
  // Pods may be seen before what stands above them.
  indexByController(pods);
  const replace = (object: KubeObject): void => {
    for (const pod of ownedBy(pods, object)) place(pod);
  };
  replicaSets.addHandler({ added: replace });
  statefulSets.addHandler({ added: replace, updated: (set, old) => wakeOnResize(set, old, wakeNamespace) });
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
