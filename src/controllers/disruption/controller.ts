import { formatKey, type ObjectKey } from '../../api/resource.ts';
import {
  deploymentType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../api/resource-types.ts';
import { DisruptionIndex } from '../../decisions/disruption/index.ts';
import {
  type ControllerContext,
  Gathering,
  isNotFound,
  type RunningController,
  runController,
  type StartController,
  settled,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { createScaleClient, createScaleFinder } from '../scale-lookup/index.ts';
import { type BudgetBook, ownStatusBook } from './book.ts';
import { followGroups } from './groups.ts';
import { SettlingTimes } from './settling.ts';
import { reconcileBudget } from './reconcile.ts';
import { clearStaleTarget } from './stale-target.ts';
import { watchBudgets, watchPods } from './watches.ts';

/** Keys never run twice at once, so several workers only keep budgets from waiting for one another's writes. */
const WORKERS = 8;

/** Short, because a budget that could not be counted lets nothing go. */
const MAX_BACKOFF_MS = 160;

/** Keeps the status of PodDisruptionBudgets, and takes back evictions that never happened. */
export function createDisruptionController(options: DisruptionOptions = {}): StartController {
  return (context) => run(context, options);
}

export interface DisruptionOptions {
  /** The counts, for a caller that decides on them as well. */
  readonly index?: DisruptionIndex | undefined;
  /** Take back DisruptionTarget conditions of evictions that never happened. Default true; Kubernetes does it too. */
  readonly clearsStaleTargets?: boolean | undefined;
  /**
   * How long to gather what approved evictions bring about before the numbers are written. Approving has already taken
   * them from the allowance, so what then happens to the budget and to the pod changes nothing that decisions go by;
   * gathered, a storm of evictions costs few writes instead of two for each, most of which would lose against the next
   * approval; while it lasts they are further apart. Everything else is written at once. Default 0.
   */
  readonly gatherMs?: number | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
  /** Where budgets and their numbers are kept. Default: in the status of the budgets. */
  readonly book?: ((context: ControllerContext) => BudgetBook) | undefined;
  /** How often every budget is looked at without any event, for what no event tells. Default: never. */
  readonly resyncMs?: number | undefined;
}

function run(context: ControllerContext, options: DisruptionOptions): RunningController {
  const { client, clock, informers, metrics } = context;
  const queueNamed = (name: string): WorkQueue => new WorkQueue({ name, clock, metrics, maxDelayMs: MAX_BACKOFF_MS });
  const queue = queueNamed('disruption');
  const recheck = queueNamed('disruption_recheck');
  const stale = queueNamed('stale_pod_disruption');
  const events = context.eventsFor('controllermanager');
  const index = options.index ?? new DisruptionIndex();
  const book = options.book?.(context) ?? ownStatusBook(client, informers.of(podDisruptionBudgetType));

  const pods = informers.of(podType);
  const controllers = informers.of(replicationControllerType);
  const replicaSets = informers.of(replicaSetType);
  const deployments = informers.of(deploymentType);
  const statefulSets = informers.of(statefulSetType);

  const gathering = new Gathering(clock, options.gatherMs ?? 0);
  watchBudgets({ index, book, queue, gathering });
  watchPods({ index, pods, queue, stale, events, clock, gathering });
  const groups = followGroups({
    context,
    index,
    changed: (namespace) => {
      for (const name of index.budgetsOverGroups(namespace)) queue.add(formatKey({ namespace, name }));
    },
  });

  const deps = {
    clock,
    index,
    events,
    book,
    pods,
    podNow: (key: ObjectKey) =>
      client.get(podType, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    groups,
    recheck,
    gathering,
    settling: new SettlingTimes(options.settlingMs),
    said: new Map<string, string>(),
    scaleOf: createScaleFinder({
      controllers,
      replicaSets,
      deployments,
      statefulSets,
      scales: createScaleClient(client),
    }),
  };
  const ready = async (): Promise<void> => {
    const caches = [book, pods, controllers, replicaSets, deployments, statefulSets];
    await Promise.all([groups.firstTry, ...caches.map((cache) => cache.whenSynced())]);
  };
  runController({
    name: 'disruption',
    context,
    queue,
    workers: WORKERS,
    ready,
    reconcile: (key) => reconcileBudget(deps, key),
  });
  runController({
    name: 'disruption_recheck',
    context,
    queue: recheck,
    workers: 1,
    reconcile: (key) => {
      queue.addRateLimited(formatKey(key));
      return Promise.resolve(settled);
    },
  });
  const { clearsStaleTargets = true, resyncMs } = options;
  if (resyncMs !== undefined) {
    every(context, resyncMs, () => {
      for (const { name, namespace } of index.budgets()) queue.add(formatKey({ namespace, name }));
    });
  }
  if (!clearsStaleTargets) return { name: 'disruption', queues: [queue, recheck] };
  runController({
    name: 'stale_pod_disruption',
    context,
    queue: stale,
    workers: 1,
    ready,
    reconcile: (key) => clearStaleTarget({ client, clock, pods }, key),
  });
  return { name: 'disruption', queues: [queue, recheck, stale] };
}

function every({ clock, signal }: ControllerContext, ms: number, look: () => void): void {
  const wait = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(ms, () => {
      look();
      wait();
    });
    signal.addEventListener('abort', cancel, { once: true });
  };
  wait();
}
