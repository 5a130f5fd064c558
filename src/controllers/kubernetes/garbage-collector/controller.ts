import { builtinType } from '../../../api/registry.ts';
import {
  type Clock,
  type ControllerContext,
  defineController,
  discover,
  type Logger,
  nextTurn,
  settled,
} from '../../../machinery/runtime/index.ts';
import { type CollectorDeps, examine, orphanDependents, UnknownKindError } from './examine.ts';
import { DependencyGraph, type GraphWakes } from './graph.ts';
import { collectable, KnownKinds } from './kinds.ts';
import { Monitors } from './monitors.ts';

const EXAMINE = 'garbage-collector-examine';
const ORPHAN = 'garbage-collector-orphan';
const REDISCOVER_MS = 30_000;
const SETTLE_MS = 100;
const RETRY_MS = 1000;
/** Discovery is not asked more often for the sake of kinds that nobody knows. */
const UNKNOWN_MS = 1000;
/** Objects looked at before others have their turn: the server is in this process. */
const EXAMINED_AT_ONCE = 10;

interface Deps extends CollectorDeps {
  readonly log: Logger;
  /** Objects with owners of a kind that is not served: looked at again when there are new kinds. */
  readonly parked: Set<string>;
  readonly monitors: Monitors;
  readonly firstDiscovery: Promise<void>;
  /** How many objects were looked at so far. */
  examined: number;
}

const ready = async ({ firstDiscovery, monitors }: Deps): Promise<void> => {
  await firstDiscovery;
  await monitors.whenSynced();
};

/**
 * Deletes objects whose owners are gone, and carries out foreground and orphan deletion. Works on whatever discovery
 * lists, so custom resources take part. Keys are uids.
 */
export const garbageCollector = defineController({
  name: 'garbage-collector',
  deps(context, queueOf): Deps {
    const { clock, log } = context;
    const client = context.clientFor('generic-garbage-collector');
    const graph = new DependencyGraph();
    const kinds = new KnownKinds();
    const wake = ({ examine: looks, orphan }: GraphWakes): void => {
      for (const uid of looks) queueOf(EXAMINE).add(uid);
      for (const uid of orphan) queueOf(ORPHAN).add(uid);
    };
    const monitors = new Monitors(context, graph, wake);
    const parked = new Set<string>();
    const rediscover = async (): Promise<void> => {
      const found = await discover(client);
      if (kinds.learn(found)) {
        for (const uid of parked) queueOf(EXAMINE).add(uid);
        parked.clear();
      }
      // A group that could not be read has not gone away.
      if (found.failed.length === 0) monitors.follow(collectable(found));
    };
    const firstDiscovery = discoverFirst(context, rediscover);
    if (!context.signal.aborted) watchDefinitions(context, rediscover);
    return {
      client,
      log,
      graph,
      kinds,
      wake,
      rediscover: atMostOften(clock, rediscover),
      parked,
      monitors,
      firstDiscovery,
      examined: 0,
    };
  },
  loops: [
    {
      name: EXAMINE,
      workers: 20,
      ready,
      async reconcile(deps, { name: uid }) {
        deps.examined += 1;
        if (deps.examined % EXAMINED_AT_ONCE === 0) await nextTurn();
        try {
          await examine(deps, uid);
        } catch (error) {
          if (!(error instanceof UnknownKindError)) throw error;
          deps.log.debug({ controller: 'garbage-collector', uid, error: error.message }, 'waits for a kind');
          deps.parked.add(uid);
        }
        return settled;
      },
    },
    {
      name: ORPHAN,
      workers: 5,
      ready,
      reconcile: (deps, { name: uid }) => orphanDependents(deps, uid).then(() => settled),
    },
  ],
});

/** Calls that come while one is under way, or soon after it, share its outcome. */
function atMostOften(clock: Clock, call: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | undefined;
  return () => {
    if (last === undefined || clock.elapsed() - last.at >= UNKNOWN_MS) last = { at: clock.elapsed(), outcome: call() };
    return last.outcome;
  };
}

async function discoverFirst(
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
