import type { Node, Pod } from '../api/generated/core-v1.ts';
import { keyOf } from '../api/resource.ts';
import {
  type Client,
  type Clock,
  type Controller,
  type ControllerContext,
  defineController,
  type Informer,
  type QueueOf,
  settled,
  type Watch,
  type WorkQueue,
  wake,
  watch,
} from '../machinery/runtime/index.ts';
import { NodeFleet } from './fleet.ts';
import { renewLease, startHeartbeats } from './heartbeat.ts';
import { nodeType, podType } from '../api/resource-types.ts';
import type { NodeShape } from './node-object.ts';
import { Player, PODS_BY_NODE } from './player.ts';
import { defaultRules, type Rules } from './rules.ts';
import type { Stage } from './stage.ts';
import { type Profile, podStages } from './stages/profiles.ts';
import { TimerHeap } from './timer-heap.ts';

export interface SimulatedNodesOptions {
  /** How many nodes to create, named `<prefix>0` and on. Nodes annotated as simulated are played besides. Default 0. */
  readonly count?: number | undefined;
  /** Default `node-`. */
  readonly prefix?: string | undefined;
  readonly shape?: NodeShape | undefined;
  /** Spread evenly over the created nodes as `topology.kubernetes.io/zone`. */
  readonly zones?: readonly string[] | undefined;
  /** Default: `probe` alone. */
  readonly rules?: Rules | undefined;
  /** Default `general`. */
  readonly profile?: Profile | undefined;
  readonly stages?: readonly Stage[] | undefined;
  readonly seed?: number | undefined;
  /** Default 10 s. */
  readonly heartbeatMs?: number | undefined;
  /** Pods written at once. Default 32. */
  readonly workers?: number | undefined;
  readonly podBlock?: string | undefined;
  readonly fleetBlock?: string | undefined;
}

const NODES = 'simulated-nodes';
const PODS = 'simulated-pods';
const backOff = { maxDelayMs: 30_000 };

interface Deps {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly podQueue: WorkQueue;
  readonly fleet: NodeFleet;
  readonly player: Player;
  readonly timers: TimerHeap;
  /** Nodes that just came up: their first heartbeat does not wait for its slot. */
  readonly cameUp: Set<string>;
  readonly beginHeartbeats: () => void;
}

/** The simulated nodes, against whatever API server the context reaches. */
export function createSimulatedNodes(options: SimulatedNodesOptions = {}): Controller {
  const { count = 0, prefix = 'node-', workers = 32 } = options;
  return defineController({
    name: NODES,
    workers: 8,
    backOff,
    deps: (context, queueOf) => gatherDeps(context, queueOf, options),
    watches: (deps) => [watchNodes(deps)],
    initial({ beginHeartbeats }) {
      beginHeartbeats();
      return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    },
    async reconcile({ cameUp, client, clock, fleet, nodes }, { name }) {
      await (nodes.get({ name }) === undefined ? fleet.create(name) : fleet.sync(name));
      // Read again: the node may have appeared while it was being created.
      const uid = nodes.get({ name })?.metadata.uid;
      if (uid !== undefined && cameUp.delete(name)) await renewLease(client, name, uid, clock.now());
      return settled;
    },
    loops: [
      {
        name: PODS,
        workers,
        backOff,
        watches: watchPods,
        async reconcile({ player, timers }, key) {
          await player.play(key, timers);
          return settled;
        },
      },
    ],
  });
}

function gatherDeps(context: ControllerContext, queueOf: QueueOf, options: SimulatedNodesOptions): Deps {
  const { client, clock, informers, log, signal } = context;
  const { heartbeatMs: everyMs = 10_000, prefix = 'node-', rules = defaultRules, zones = [] } = options;
  const nodes = informers.of(nodeType);
  const pods = informers.of(podType);
  pods.addIndex(PODS_BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  const zoneOf = (name: string): Record<string, string> => {
    const zone = zones[Number(name.slice(prefix.length)) % zones.length];
    return zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone };
  };
  const fleet = new NodeFleet({
    client,
    nodes,
    now: () => clock.now(),
    shapeOf: (name) => ({ ...options.shape, labels: { ...zoneOf(name), ...options.shape?.labels } }),
    fleetBlock: options.fleetBlock ?? '172.16.0.0/12',
  });
  const player = new Player({
    client,
    clock,
    pods,
    fleet,
    rules,
    stages: options.stages ?? podStages[options.profile ?? 'general'],
    seed: options.seed ?? 1,
    podBlock: options.podBlock ?? '10.128.0.0/9',
  });
  const podQueue = queueOf(PODS);
  const timers = new TimerHeap(clock, (key) => podQueue.add(key));
  signal.addEventListener('abort', () => timers.close(), { once: true });
  return {
    client,
    clock,
    nodes,
    pods,
    podQueue,
    fleet,
    player,
    timers,
    cameUp: new Set(),
    beginHeartbeats() {
      if (!signal.aborted) startHeartbeats({ client, clock, log, fleet, nodes, signal, everyMs });
    },
  };
}

function watchNodes({ cameUp, fleet, nodes, player, podQueue, pods }: Deps): Watch {
  const learn = (node: Node): string | undefined => {
    const name = node.metadata.name ?? '';
    if (fleet.learn(node) === 'on') {
      cameUp.add(name);
      wake(
        podQueue,
        pods
          .byIndex(PODS_BY_NODE, name)
          .filter((pod) => player.learn(pod))
          .map(keyOf),
      );
    }
    return fleet.get(name)?.on ? name : undefined;
  };
  return watch(nodes, { added: learn, updated: learn, deleted: ({ metadata }) => fleet.forget(metadata.name ?? '') });
}

function watchPods({ player, pods, timers }: Deps): Watch[] {
  const learn = (pod: Pod): string | undefined => (player.learn(pod) ? keyOf(pod) : undefined);
  return [
    watch(pods, {
      added: learn,
      updated: learn,
      deleted(pod) {
        timers.clear(keyOf(pod));
        player.forget(pod);
      },
    }),
  ];
}
