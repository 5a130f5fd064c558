import { namespaceType, nodeType, podType } from '../api/resource-types.ts';
import {
  Cluster,
  disruptionIn,
  findTree,
  type GroupTerms,
  type GroupTree,
  isTreePlaced,
} from '../decisions/gang/index.ts';
import {
  type Controller,
  type ControllerContext,
  defineController,
  FeatureGates,
  type QueueOf,
  settled,
  sleep,
} from '../machinery/runtime/index.ts';
import { FED_KINDS } from '../decisions/disruption/index.ts';
import { unavailabilityGates } from '../decisions/unavailability/index.ts';
import { bindPod } from './binder.ts';
import { PreemptionBudgets } from './budgets.ts';
import type { SchedulerDeps } from './deps.ts';
import { discoverGroups, GroupObjectStore } from './group-objects.ts';
import { PendingQueue } from './pending-queue.ts';
import { Permit } from './permit.ts';
import { type KnownPod, PodBook } from './pod-book.ts';
import { runRound } from './round.ts';
import { StatusWriter } from './status-writer.ts';
import { Victims } from './victims.ts';
import { Volumes } from './volumes.ts';
import { requeuePod, watchCluster, watchGroup } from './watches.ts';

export interface SchedulerOptions {
  /** Pods that name this scheduler are its business. Default `default-scheduler`. */
  readonly schedulerName?: string | undefined;
  readonly gates?: FeatureGates | undefined;
}

const DISCOVERY_RETRY_MS = 2000;
/** Bindings written at once. */
const BIND_WORKERS = 32;
const NAME = 'scheduler';
const BINDINGS = 'scheduler-bindings';
const VICTIMS = 'scheduler-victims';
const POD_STATUS = 'scheduler-pod-status';
const GROUP_STATUS = 'scheduler-group-status';

/** A scheduler for any Kubernetes API: one loop places, the others write what it decided. */
export function createScheduler(options: SchedulerOptions = {}): Controller {
  return defineController({
    name: NAME,
    workers: 1,
    deps: (context, queueOf) => gatherDeps(context, queueOf, options),
    ready: fillPicture,
    async reconcile(deps) {
      await runRound(deps);
      return settled;
    },
    loops: [
      {
        name: BINDINGS,
        workers: BIND_WORKERS,
        backOff: { baseDelayMs: 50, maxDelayMs: 5000 },
        reconcile: (deps, { name: uid }) => bindPod(deps, uid),
      },
      { name: VICTIMS, workers: 8, reconcile: ({ victims }, { name: uid }) => victims.remove(uid) },
      { name: POD_STATUS, workers: 8, reconcile: ({ status }, { name: uid }) => status.writePod(uid) },
      { name: GROUP_STATUS, reconcile: ({ status }, { name, namespace }) => status.writeGroup(`${namespace}/${name}`) },
    ],
  });
}

function gatherDeps(context: ControllerContext, queueOf: QueueOf, options: SchedulerOptions): SchedulerDeps {
  const { client, clock, informers, log, metrics, signal } = context;
  const { gates = new FeatureGates(), schedulerName = 'default-scheduler' } = options;
  const cluster = new Cluster();
  const book = new PodBook(cluster, gates.enabled('GenericWorkload') && gates.enabled('GangScheduling'));
  const groups = new GroupObjectStore(log);
  const counted = FED_KINDS.filter(({ role }) => role !== 'Budget' || gates.enabled('PodDisruptionBudget'));
  const budgets = new PreemptionBudgets(context, unavailabilityGates(gates), counted);
  const events = context.eventsFor(schedulerName);
  const treeOf = ({ facts, link }: KnownPod): GroupTree | undefined => {
    const answer = link && findTree(link, facts.namespace, groups.in(facts.namespace));
    return answer?.reason === 'Found' ? answer.group : undefined;
  };
  const leafOf = (tree: GroupTree | undefined, group: string | undefined) =>
    tree?.leaves.find(({ id }) => id === group);
  const termsOf = (known: KnownPod): GroupTerms | undefined => leafOf(treeOf(known), known.group)?.terms;
  const placed = (group: string): number => book.members(group).filter(({ standing }) => standing !== 'pending').length;
  const queue = new PendingQueue({ clock, onActive: () => queueOf(NAME).add('next') });
  const permit = new Permit({
    clock,
    book,
    neededBy: (_, known) => termsOf(known)?.needed,
    isTreePlaced(known) {
      const group = treeOf(known);
      return group?.root === undefined || isTreePlaced(group.tree, placed);
    },
    bind: ({ facts }) => queueOf(BINDINGS).add(facts.uid),
    expire(known) {
      book.release(known);
      requeuePod({ queue, schedulerName, treeOf }, known);
      queue.notify('PodGone');
    },
  });
  metrics.countedGauge('scheduler_pending_pods', () => {
    const { active, backoff, held, parked } = queue.counts();
    const counts = { active, backoff, gated: held, unschedulable: parked };
    return Object.entries(counts).map(([name, count]): [{ queue: string }, number] => [{ queue: name }, count]);
  });
  // Not idle before the caches are filled and the first round is through.
  queueOf(NAME).add('next');
  return {
    client,
    informers,
    schedulerName,
    cluster,
    book,
    groups,
    queue,
    permit,
    status: new StatusWriter(context, book, { pods: queueOf(POD_STATUS), groups: queueOf(GROUP_STATUS) }),
    victims: new Victims(context, events, book, queueOf(VICTIMS)),
    preemption: {
      cluster,
      disruptionOf(group) {
        const [member] = book.members(group);
        const tree = member && treeOf(member);
        const leaf = leafOf(tree, group);
        return tree && leaf && disruptionIn(tree, leaf);
      },
      openBudgets: () => budgets.open(),
      get now() {
        return clock.now();
      },
    },
    budgets,
    volumes: new Volumes(client, informers),
    clock,
    log,
    metrics,
    events,
    signal,
    treeOf,
  };
}

/** Fills the picture of the cluster: nodes and groups are known before the first pod is looked at. */
async function fillPicture(deps: SchedulerDeps): Promise<void> {
  const { budgets, cluster, informers, queue, signal, volumes } = deps;
  const followed = Promise.all([budgets.follow(), volumes.follow(cluster, () => queue.notify('VolumeChanged'))]);
  await Promise.all([
    followGroups(deps),
    informers.of(nodeType).whenSynced(),
    informers.of(namespaceType).whenSynced(),
  ]);
  watchCluster(deps, informers);
  await Promise.all([followed, informers.of(podType).whenSynced()]);
  queue.start(signal);
}

async function followGroups(deps: SchedulerDeps): Promise<void> {
  const { client, clock, groups, informers, log, signal, status } = deps;
  while (!signal.aborted) {
    try {
      const api = await discoverGroups(client);
      status.useVersion(api.podGroups[0], api.group);
      await groups.follow(informers, api, (change) => watchGroup(deps, change));
      return;
    } catch (error) {
      log.warn({ error: String(error) }, 'cannot find out which groups the cluster serves; trying again');
      await sleep(clock, DISCOVERY_RETRY_MS, signal).catch(() => {});
    }
  }
}
