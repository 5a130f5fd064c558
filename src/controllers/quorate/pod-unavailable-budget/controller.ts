import {
  fromKruise,
  kruiseLeaderWorkerSetType,
  type LeaderWorkerSet,
  leaderWorkerSetType,
} from '../../../api/lws/types.ts';
import { POD_UNAVAILABLE_BUDGETS, type TargetReference } from '../../../api/kruise/types.ts';
import { READ_SCALES, rule } from '../../../api/policy-rule.ts';
import { keyOf } from '../../../api/resource.ts';
import {
  deploymentType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../../api/resource-types.ts';
import type { RoomJudge } from '../../../decisions/disruption/index.ts';
import {
  asksForRoom,
  BudgetIndexes,
  OWNER_TYPES,
  roomAsksOf,
  UnavailabilityFeed,
} from '../../../decisions/unavailability/index.ts';
import {
  type Controller,
  type ControllerContext,
  defineController,
  Debounce,
  wake,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import { CAPACITY_EVERY_MS, type CapacityDeps, capacityLoop } from '../../shared/capacity-looks/index.ts';
import { type HoldDeps, holdLoop, holdState } from '../../shared/holds/index.ts';
import { createScaleClient, createScaleFinder } from '../../shared/scale-lookup/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import type { ExpectedSources } from './expected.ts';
import { createBudgetGauges } from './metrics.ts';
import { holdingUnavailableBudgets } from './holding-budgets.ts';
import { type UnavailabilityDeps, reconcileUnavailableBudget } from './reconcile.ts';
import { type Watched, watchEverything } from './watches.ts';

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
  readonly debounceMs?: number | undefined;
  /** Others decide by this status and by pods they follow themselves: tell them how new theirs must be. Default false. */
  readonly forReplicas?: boolean | undefined;
  /** Who knows whether units find places. Default: nobody. */
  readonly room?: (() => RoomJudge | undefined) | undefined;
}

type Deps = UnavailabilityDeps & Watched & HoldDeps & CapacityDeps & { readonly holds: WorkQueue };

const NAME = 'pod-unavailable-budget';
const HOLDS = 'pod_unavailable_budget_hold';
const CAPACITY = 'pod_unavailable_budget_capacity';

/** How often all room that is held is looked at. */
const SWEEP_MS = 60_000;

/** Keeps the status of PodUnavailableBudgets, and the room that they have held. */
export function createPodUnavailableBudgetController(options: PodUnavailableBudgetOptions = {}): Controller {
  const { compat = false, debounceMs = 0 } = options;
  return defineController<Deps>({
    name: NAME,
    deps(context, queueOf) {
      const { client, clock, informers, metrics } = context;
      const pods = informers.of(podType);
      const feed = options.feed ?? new UnavailabilityFeed(new BudgetIndexes({ compat }));
      const budgets = informers.of(POD_UNAVAILABLE_BUDGETS);
      const index = (namespace: string) => feed.indexes.of(namespace);
      return {
        client,
        clock,
        events: context.eventsFor('pub-controller'),
        budgets,
        holding: holdingUnavailableBudgets({ budgets, index }),
        ...holdState(metrics),
        holds: queueOf(HOLDS),
        queue: queueOf(NAME),
        capacityLooks: queueOf(CAPACITY),
        capacity: new Map(),
        room: options.room ?? (() => undefined),
        asksOf({ name, namespace = '' }) {
          const entry = index(namespace).budget(name);
          return entry && roomAsksOf(entry, clock.now());
        },
        pods,
        owners: OWNER_TYPES.map((type) => ({ type, informer: informers.of(type) })),
        ...workloadSources(context, options),
        feed,
        index,
        debounce: new Debounce(clock, debounceMs),
        gauges: createBudgetGauges(metrics),
        shortSince: new Map(),
        marked: new Map(),
        podsResourceVersion: options.forReplicas === true ? () => pods.changedAt : undefined,
      };
    },
    watches: watchEverything,
    reconcile: reconcileUnavailableBudget,
    loops: [holdLoop(HOLDS), capacityLoop(CAPACITY)],
    passes: [
      // A budget may be gone, or a unit: no event tells.
      { everyMs: SWEEP_MS, pass: ({ held, holds }) => wake(holds, [...held]) },
      { everyMs: CAPACITY_EVERY_MS, pass: wakeWhatAsksForRoom },
    ],
  });
}

function wakeWhatAsksForRoom({ budgets, capacityLooks }: Deps): void {
  wake(capacityLooks, budgets.list().filter(asksForRoom).map(keyOf));
}

export interface UnavailabilityHost extends ControllerHost {
  readonly unavailability?: Omit<PodUnavailableBudgetOptions, 'leaderWorkerSets'>;
}

export const podUnavailableBudget: OwnController<UnavailabilityHost> = {
  hosts: { embedded: 'always', operator: 'PodWebhook' },
  feature: 'podUnavailableBudgets',
  rights: [
    // Which of a budget's pods it can spare.
    rule([''], ['pods'], ['patch']),
    READ_SCALES,
    // Whether the controller of a pod that the garbage collector deletes is gone.
    rule(['apps'], ['daemonsets', 'statefulsets'], ['get']),
    rule(['apps.kruise.io'], ['daemonsets', 'statefulsets', 'clonesets'], ['get']),
  ],
  create: ({ serves, unavailability }) =>
    createPodUnavailableBudgetController({ ...unavailability, leaderWorkerSets: serves(leaderWorkerSetType) }),
};

/** Where it is read how many pods there should be. */
function workloadSources(
  { client, informers }: ControllerContext,
  { compat = false, leaderWorkerSets = true }: PodUnavailableBudgetOptions,
) {
  const pods = informers.of(podType);
  const replicaSets = informers.of(replicaSetType);
  const deployments = informers.of(deploymentType);
  const statefulSets = informers.of(statefulSetType);
  const controllers = informers.of(replicationControllerType);
  const sets = leaderWorkerSets ? informers.of(leaderWorkerSetType) : undefined;
  const kruiseSets = leaderWorkerSets ? informers.of(kruiseLeaderWorkerSetType) : undefined;

  const scales = createScaleClient(client);
  const leaderWorkerSet = (namespace: string, name: string): LeaderWorkerSet | undefined => {
    const kruise = kruiseSets?.get({ namespace, name });
    return sets?.get({ namespace, name }) ?? (kruise === undefined ? undefined : fromKruise(kruise));
  };
  const workload = (kind: string, key: { namespace: string; name: string }) => {
    if (kind === 'Deployment') return deployments.get(key);
    if (kind === 'StatefulSet') return statefulSets.get(key);
    if (kind === 'ReplicaSet') return replicaSets.get(key);
    return kind === 'LeaderWorkerSet' ? leaderWorkerSet(key.namespace, key.name) : undefined;
  };
  const sources: ExpectedSources = {
    findScale: createScaleFinder({ controllers, deployments, replicaSets, scales, statefulSets }),
    async replicasOf({ apiVersion = '', kind = '', name = '' }: TargetReference, namespace: string) {
      const known = workload(kind, { namespace, name });
      if (known !== undefined) return known.metadata.deletionTimestamp ? undefined : (known.spec?.replicas ?? 1);
      return (await scales.get({ apiVersion, kind, name, uid: '' }, namespace))?.scale;
    },
    leaderWorkerSet,
    pod: (namespace, name) => pods.get({ namespace, name }),
    compat,
  };
  const followed = [sets, kruiseSets].flatMap((informer) => informer ?? []);
  return { sources, deployments, statefulSets, leaderWorkerSets: followed };
}
