import { builtinType } from '../../api/registry.ts';
import {
  type ControllerContext,
  discover,
  type RunningController,
  runController,
  type StartController,
  settled,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { type CollectorDeps, examine, orphanDependents } from './examine.ts';
import { DependencyGraph, type Wakes } from './graph.ts';
import { collectable, KnownKinds } from './kinds.ts';
import { Monitors } from './monitors.ts';

const REDISCOVER_MS = 30_000;
const SETTLE_MS = 100;
const RETRY_MS = 1000;

/**
 * Deletes objects whose owners are gone, and carries out foreground and orphan deletion. Works on whatever discovery
 * lists, so custom resources take part. Keys are uids.
 */
export const startGarbageCollector: StartController = (context): RunningController => {
  const { client, clock, metrics, signal } = context;
  const graph = new DependencyGraph();
  const kinds = new KnownKinds();
  const queueOf = (name: string) => new WorkQueue({ name, clock, metrics });
  const examineQueue = queueOf('garbage-collector-examine');
  const orphanQueue = queueOf('garbage-collector-orphan');
  const wake = ({ examine: looks, orphan }: Wakes) => {
    for (const uid of looks) examineQueue.add(uid);
    for (const uid of orphan) orphanQueue.add(uid);
  };
  const monitors = new Monitors(context, graph, wake);
  const rediscover = async () => {
    const found = await discover(client);
    kinds.learn(found);
    // A group that could not be read has not gone away.
    if (found.failed.length === 0) monitors.follow(collectable(found));
  };
  const deps: CollectorDeps = { client, graph, kinds, wake, rediscover };
  const ready = firstDiscovery(context, rediscover).then(() => monitors.whenSynced());

  const work = { context, ready: () => ready };
  runController({
    ...work,
    name: 'garbage-collector',
    queue: examineQueue,
    workers: 20,
    reconcile: ({ name: uid }) => examine(deps, uid).then(() => settled),
  });
  runController({
    ...work,
    name: 'garbage-collector-orphan',
    queue: orphanQueue,
    workers: 5,
    reconcile: ({ name: uid }) => orphanDependents(deps, uid).then(() => settled),
  });
  if (!signal.aborted) watchDefinitions(context, rediscover);
  return { name: 'garbage-collector', queues: [examineQueue, orphanQueue] };
};

async function firstDiscovery(
  { clock, log, signal }: ControllerContext,
  rediscover: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await rediscover();
      return;
    } catch (error) {
      log.warn({ controller: 'garbage-collector', error: String(error) }, 'discovery failed and is tried again');
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
  }
}

/** Asks discovery again soon after a custom resource definition changes, and now and then anyway. */
function watchDefinitions({ clock, informers, log, signal }: ControllerContext, rediscover: () => Promise<void>): void {
  const run = () => {
    if (signal.aborted) return;
    rediscover().catch((error: unknown) => {
      log.debug({ controller: 'garbage-collector', error: String(error) }, 'discovery failed and is tried again later');
    });
  };
  let cancelSoon: (() => void) | undefined;
  const soon = () => {
    cancelSoon?.();
    cancelSoon = clock.after(SETTLE_MS, run);
  };
  informers.of(builtinType('CustomResourceDefinition', 'apiextensions.k8s.io')).addHandler({
    added: (_, initial) => {
      if (!initial) soon();
    },
    updated: soon,
    deleted: soon,
  });
  const again = () => {
    run();
    cancelLater = clock.after(REDISCOVER_MS, again);
  };
  let cancelLater = clock.after(REDISCOVER_MS, again);
  const stop = () => {
    cancelSoon?.();
    cancelLater();
  };
  signal.addEventListener('abort', stop, { once: true });
}
