import { builtinType } from '../../api/registry.ts';
import {
  type Clock,
  type ControllerContext,
  discover,
  nextTurn,
  type RunningController,
  runController,
  type StartController,
  settled,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { type CollectorDeps, examine, orphanDependents, UnknownKindError } from './examine.ts';
import { DependencyGraph, type Wakes } from './graph.ts';
import { collectable, KnownKinds } from './kinds.ts';
import { Monitors } from './monitors.ts';

const REDISCOVER_MS = 30_000;
const SETTLE_MS = 100;
const RETRY_MS = 1000;
/** Discovery is not asked more often for the sake of kinds that nobody knows. */
const UNKNOWN_MS = 1000;
/** Objects looked at before others have their turn: the server is in this process. */
const EXAMINED_AT_ONCE = 10;

/**
 * Deletes objects whose owners are gone, and carries out foreground and orphan deletion. Works on whatever discovery
 * lists, so custom resources take part. Keys are uids.
 */
export const startGarbageCollector: StartController = (context): RunningController => {
  const { clock, metrics, signal } = context;
  const client = context.clientFor('generic-garbage-collector');
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
  /** Objects with owners of a kind that is not served: looked at again when there are new kinds. */
  const parked = new Set<string>();
  const rediscover = async () => {
    const found = await discover(client);
    if (kinds.learn(found)) {
      for (const uid of parked) examineQueue.add(uid);
      parked.clear();
    }
    // A group that could not be read has not gone away.
    if (found.failed.length === 0) monitors.follow(collectable(found));
  };
  const deps: CollectorDeps = { client, graph, kinds, wake, rediscover: atMostOften(clock, rediscover) };
  const ready = firstDiscovery(context, rediscover).then(() => monitors.whenSynced());

  const work = { context, ready: () => ready };
  let examined = 0;
  runController({
    ...work,
    name: 'garbage-collector',
    queue: examineQueue,
    workers: 20,
    reconcile: async ({ name: uid }) => {
      if (++examined % EXAMINED_AT_ONCE === 0) await nextTurn();
      try {
        await examine(deps, uid);
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
        context.log.debug({ controller: 'garbage-collector', uid, error: error.message }, 'waits for a kind');
        parked.add(uid);
      }
      return settled;
    },
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

/** Calls that come while one is under way, or soon after it, share its outcome. */
function atMostOften(clock: Clock, call: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | undefined;
  return () => {
    if (last === undefined || clock.elapsed() - last.at >= UNKNOWN_MS) last = { at: clock.elapsed(), outcome: call() };
    return last.outcome;
  };
}

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
