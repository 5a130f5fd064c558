import { namespaceType, nodeType, podType } from '../api/resource-types.ts';
import { Cluster, findTerms, type GroupTerms } from '../decisions/gang/index.ts';
import {
  type ControllerContext,
  FeatureGates,
  type RunningController,
  runController,
  settled,
  sleep,
} from '../machinery/runtime/index.ts';
import { FED_KINDS } from '../decisions/disruption/index.ts';
import { unavailabilityGates } from '../decisions/unavailability/index.ts';
import { startBinder } from './binder.ts';
import { Budgets } from './budgets.ts';
import type { SchedulerDeps } from './deps.ts';
import { discoverGroups, GroupBook } from './group-objects.ts';
import { PendingQueue } from './pending-queue.ts';
import { Permit } from './permit.ts';
import { type KnownPod, PodBook } from './pod-book.ts';
import { reportBound, reportError } from './report.ts';
import { runRound } from './round.ts';
import { StatusWriter } from './status-writer.ts';
import { Victims } from './victims.ts';
import { Volumes } from './volumes.ts';
import { requeuePod, watchCluster, watchGroup } from './watches.ts';

export interface SchedulerOptions {
  /** Pods that name this scheduler are its business. Default `default-scheduler`. */
  readonly schedulerName?: string | undefined;
  readonly gates?: FeatureGates | undefined;
  /** Bindings written at once. */
  readonly bindWorkers?: number | undefined;
}

const DISCOVERY_RETRY_MS = 2000;

/** Starts a scheduler on any Kubernetes API. */
export function startScheduler(context: ControllerContext, options: SchedulerOptions = {}): RunningController {
  const { clock, informers, log, metrics, signal } = context;
  const { gates = new FeatureGates(), schedulerName = 'default-scheduler' } = options;
  const cluster = new Cluster();
  const book = new PodBook(cluster, gates.enabled('GenericWorkload') && gates.enabled('GangScheduling'));
  const groups = new GroupBook(log);
  const counted = FED_KINDS.filter(({ role }) => role !== 'Budget' || gates.enabled('PodDisruptionBudget'));
  const budgets = new Budgets(context, unavailabilityGates(gates), counted);
  const volumes = new Volumes(context.client, informers);
  const events = context.eventsFor(schedulerName);
  const status = new StatusWriter(context, book);

  const termsOf = ({ facts, link }: KnownPod): GroupTerms | undefined => {
    const answer = link && findTerms(link, groups.in(facts.namespace));
    return answer?.reason === 'Found' ? answer.terms : undefined;
  };
  const queue = new PendingQueue({ clock, onActive: () => rounds.queue.add('next') });
  const permit = new Permit({
    clock,
    book,
    neededBy: (_, known) => termsOf(known)?.needed,
    bind: (known) => binder.bind(known),
    expire: (known) => {
      book.release(known);
      requeuePod(deps, known);
      queue.notify('PodGone');
    },
  });
  const binder = startBinder({
    context,
    book,
    workers: options.bindWorkers,
    mayBind: (known) => {
      if (permit.allows(known)) return true;
      permit.pass(known);
      return false;
    },
    beforeBind: (known) => volumes.announce(known),
    onBound: (known) => reportBound(deps, known),
    onRefused: (known, error) => {
      book.release(known);
      queue.notify('PodGone');
      reportError(deps, known, `binding rejected: ${error.message}`);
      requeuePod(deps, known, { rested: true });
    },
  });
  const deps: SchedulerDeps = {
    schedulerName,
    cluster,
    book,
    groups,
    queue,
    permit,
    status,
    victims: new Victims(context, events, book),
    preemption: {
      cluster,
      disruptionOf: (group) => {
        const [member] = book.members(group);
        return member && termsOf(member)?.disruption;
      },
      openBudgets: () => budgets.open(),
    },
    clock,
    log,
    metrics,
    events,
    termsOf,
  };

  const discover = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const api = await discoverGroups(context.client);
        status.useVersion(api.podGroups[0], api.group);
        await groups.follow(informers, api, (change) => watchGroup(deps, change));
        return;
      } catch (error) {
        log.warn({ error: String(error) }, 'cannot find out which groups the cluster serves; trying again');
        await sleep(clock, DISCOVERY_RETRY_MS, signal).catch(() => {});
      }
    }
  };
  const rounds = runController({
    name: 'scheduler',
    context,
    workers: 1,
    ready: async () => {
      const followed = Promise.all([budgets.follow(), volumes.follow(cluster, () => queue.notify('VolumeChanged'))]);
      // Nodes and groups are known before the first pod is looked at.
      await Promise.all([discover(), informers.of(nodeType).whenSynced(), informers.of(namespaceType).whenSynced()]);
      watchCluster(deps, informers);
      await Promise.all([followed, informers.of(podType).whenSynced()]);
      queue.start(signal);
    },
    reconcile: async () => {
      await runRound(deps);
      return settled;
    },
  });
  // Not idle before the caches are filled and the first round is through.
  rounds.queue.add('next');
  return {
    name: 'scheduler',
    queues: [rounds.queue, binder.queue, deps.victims.queue, status.podQueue, status.groupQueue],
  };
}
