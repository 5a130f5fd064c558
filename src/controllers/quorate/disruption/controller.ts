import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import {
  deploymentType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../../api/resource-types.ts';
import { DisruptionIndex, type RoomJudge, roomAsks } from '../../../decisions/disruption/index.ts';
import {
  type Controller,
  type ControllerContext,
  Debounce,
  defineController,
  existing,
  settled,
  wake,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import { CAPACITY_EVERY_MS, type CapacityDeps, capacityLoop } from '../../shared/capacity-looks/index.ts';
import { type HoldDeps, holdLoop, holdState } from '../../shared/holds/index.ts';
import { createScaleClient, createScaleFinder } from '../../shared/scale-lookup/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import { type BudgetBook, ownStatusBook } from './book.ts';
import { type FollowedGroups, followGroups } from './groups.ts';
import { holdingDisruptionBudgets } from './holding-budgets.ts';
import { SettlingTimes } from './settling.ts';
import { type DisruptionDeps, reconcileDisruptionBudget } from './reconcile.ts';
import { clearStaleTarget, type StaleTargetDeps } from './stale-target.ts';
import { watchBudgets, watchPods, watchStaleTargets } from './watches.ts';

/** Keys never run twice at once, so several workers only keep budgets from waiting for one another's writes. */
const WORKERS = 8;

/** Short, because a budget that could not be counted lets nothing go. */
const MAX_BACKOFF_MS = 160;

export interface DisruptionOptions {
  /** The counts, for a caller that decides on them as well. */
  readonly index?: DisruptionIndex | undefined;
  /** Who knows whether units find places. Default: whom the counts ask. */
  readonly room?: (() => RoomJudge | undefined) | undefined;
  /** Take back DisruptionTarget conditions of evictions that never happened. Default true; Kubernetes does it too. */
  readonly clearsStaleTargets?: boolean | undefined;
  /**
   * How long to gather what approved evictions bring about before the numbers are written. Approving has already taken
   * them from the allowance, so what then happens to the budget and to the pod changes nothing that decisions go by;
   * gathered, a storm of evictions costs few writes instead of two for each, most of which would lose against the next
   * approval; while it lasts they are further apart. Everything else is written at once. Default 0.
   */
  readonly debounceMs?: number | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
  /** Where budgets and their numbers are kept. Default: in the status of the budgets. */
  readonly book?: ((context: ControllerContext) => BudgetBook) | undefined;
  /** How often every budget is looked at without any event, for what no event tells. Default: never. */
  readonly resyncMs?: number | undefined;
  /** Called when it does. */
  readonly resynced?: (() => void) | undefined;
}

const NAME = 'disruption';
const RECHECK = 'disruption_recheck';
const STALE_TARGETS = 'stale_pod_disruption';
const HOLDS = 'capacity_hold';
const CAPACITY = 'capacity_look';

/** How often all room that is held is looked at. */
const SWEEP_MS = 60_000;

const backOff = { maxDelayMs: MAX_BACKOFF_MS };

/** Keeps the status of PodDisruptionBudgets, and takes back evictions that never happened. */
export function createDisruptionController(options: DisruptionOptions = {}): Controller {
  const { clearsStaleTargets = true, resynced, resyncMs } = options;
  const lookAtAll = ({ index, queue }: Deps): void => {
    wake(queue, [...index.budgets()].map(formatKey));
    resynced?.();
  };
  return defineController<Deps>({
    name: NAME,
    workers: WORKERS,
    backOff,
    deps: (context, queueOf) =>
      gatherDeps(context, options, {
        queue: queueOf(NAME),
        recheck: queueOf(RECHECK),
        holds: queueOf(HOLDS),
        capacityLooks: queueOf(CAPACITY),
      }),
    ready: ({ groups }) => groups.firstTry,
    watches: (deps) => [watchBudgets(deps), watchPods(deps)],
    reconcile: reconcileDisruptionBudget,
    loops: [
      {
        name: RECHECK,
        workers: 1,
        backOff,
        reconcile({ queue }, key) {
          queue.addRateLimited(formatKey(key));
          return Promise.resolve(settled);
        },
      },
      ...(clearsStaleTargets
        ? [{ name: STALE_TARGETS, workers: 1, backOff, watches: watchStaleTargets, reconcile: clearStaleTarget }]
        : []),
      holdLoop(HOLDS),
      capacityLoop(CAPACITY),
    ],
    passes: [
      // A budget may be gone, or a unit: no event tells.
      { everyMs: SWEEP_MS, pass: ({ held, holds }) => wake(holds, [...held]) },
      { everyMs: CAPACITY_EVERY_MS, pass: wakeWhatAsksForRoom },
      ...(resyncMs === undefined ? [] : [{ everyMs: resyncMs, pass: lookAtAll }]),
    ],
  });
}

function wakeWhatAsksForRoom({ capacityLooks, index }: Deps): void {
  const asking = [...index.budgets()].filter(({ name, namespace }) => index.budget(namespace, name)?.needsRoom);
  wake(capacityLooks, asking.map(formatKey));
}

export interface DisruptionHost extends ControllerHost {
  readonly disruption?: DisruptionOptions;
}

/** On a cluster evictions are judged by its counts, which it keeps whatever gates say; its rights depend on the mode. */
export const disruption: OwnController<DisruptionHost> = {
  hosts: { embedded: 'PodDisruptionBudget', operator: 'always' },
  create: (host) => createDisruptionController(host.disruption),
};

interface Deps extends DisruptionDeps, StaleTargetDeps, HoldDeps, Omit<CapacityDeps, 'queue'> {
  readonly groups: FollowedGroups;
  readonly queue: WorkQueue;
  readonly holds: WorkQueue;
}

function gatherDeps(
  context: ControllerContext,
  options: DisruptionOptions,
  { capacityLooks, holds, queue, recheck }: Pick<Deps, 'capacityLooks' | 'holds' | 'queue' | 'recheck'>,
): Deps {
  const { client, clock, informers, metrics } = context;
  const index = options.index ?? new DisruptionIndex();
  const changed = (namespace: string, budgets: readonly string[]): void => {
    for (const name of budgets) queue.add(formatKey({ namespace, name }));
  };
  const book = options.book?.(context) ?? ownStatusBook(client, informers.of(podDisruptionBudgetType));
  return {
    client,
    clock,
    queue,
    recheck,
    holds,
    ...holdState(metrics),
    capacityLooks,
    capacity: new Map(),
    room: options.room ?? (() => index.room),
    asksOf: ({ name, namespace = '' }: ObjectKey) => roomAsks(index, { namespace, name }, clock.now()),
    index,
    groups: followGroups({ context, index, changed }),
    events: context.eventsFor('controllermanager'),
    book,
    holding: holdingDisruptionBudgets({ index, book, clock }),
    pods: informers.of(podType),
    podNow: (key: ObjectKey) => existing(client.get(podType, key)),
    debounce: new Debounce(clock, options.debounceMs ?? 0),
    settling: new SettlingTimes(options.settlingMs),
    said: new Map<string, string>(),
    scaleOf: createScaleFinder({
      controllers: informers.of(replicationControllerType),
      replicaSets: informers.of(replicaSetType),
      deployments: informers.of(deploymentType),
      statefulSets: informers.of(statefulSetType),
      scales: createScaleClient(client),
    }),
  };
}
