import type { Pod } from '../api/generated/core-v1.ts';
import { keyOf } from '../api/resource.ts';
import {
  type ControllerContext,
  type RunningController,
  runController,
  settled,
  WorkQueue,
} from '../machinery/runtime/index.ts';
import { Fleet } from './fleet.ts';
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

/** Starts the simulated nodes against whatever API server the context reaches. */
export function startSimulatedNodes(
  context: ControllerContext,
  options: SimulatedNodesOptions = {},
): RunningController {
  const { client, clock, informers, log, metrics, signal } = context;
  const { count = 0, prefix = 'node-', rules = defaultRules, workers = 32, zones = [] } = options;
  const nodes = informers.of(nodeType);
  const pods = informers.of(podType);
  pods.addIndex(PODS_BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));

  const zoneOf = (name: string): Record<string, string> => {
    const zone = zones[Number(name.slice(prefix.length)) % zones.length];
    return zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone };
  };
  const fleet = new Fleet({
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

  const podQueue = new WorkQueue({ name: 'simulated-pods', clock, metrics, maxDelayMs: 30_000 });
  const nodeQueue = new WorkQueue({ name: 'simulated-nodes', clock, metrics, maxDelayMs: 30_000 });
  const timers = new TimerHeap(clock, (key) => podQueue.add(key));
  signal.addEventListener('abort', () => timers.close(), { once: true });

  /** Nodes that just came up: their first heartbeat does not wait for its slot. */
  const cameUp = new Set<string>();
  const look = (pod: Pod): void => {
    if (player.learn(pod)) podQueue.add(keyOf(pod));
  };
  const playNode = (name: string): void => {
    for (const pod of pods.byIndex(PODS_BY_NODE, name)) look(pod);
  };
  const learnNode = (node: Parameters<Fleet['learn']>[0]): void => {
    const name = node.metadata.name ?? '';
    const power = fleet.learn(node);
    if (power === 'on') {
      cameUp.add(name);
      playNode(name);
    }
    if (fleet.get(name)?.on) nodeQueue.add(name);
  };
  nodes.addHandler({
    added: learnNode,
    updated: learnNode,
    deleted: ({ metadata }) => fleet.forget(metadata.name ?? ''),
  });
  pods.addHandler({
    added: look,
    updated: look,
    deleted: (pod) => {
      timers.clear(keyOf(pod));
      player.forget(pod);
    },
  });

  const ready = async (): Promise<void> => {
    await Promise.all([nodes.whenSynced(), pods.whenSynced()]);
  };
  runController({
    name: 'simulated-pods',
    context,
    queue: podQueue,
    workers,
    ready,
    reconcile: async (key) => {
      await player.play(key, timers);
      return settled;
    },
  });
  runController({
    name: 'simulated-nodes',
    context,
    queue: nodeQueue,
    workers: 8,
    ready,
    reconcile: async ({ name }) => {
      await (nodes.get({ name }) === undefined ? fleet.create(name) : fleet.sync(name));
      // Read again: the node may have appeared while it was being created.
      const uid = nodes.get({ name })?.metadata.uid;
      if (uid !== undefined && cameUp.delete(name)) await renewLease(client, name, uid, clock.now());
      return settled;
    },
  });
  void ready().then(() => {
    if (signal.aborted) return;
    for (let index = 0; index < count; index += 1) nodeQueue.add(`${prefix}${index}`);
    startHeartbeats({ client, clock, log, fleet, nodes, signal, everyMs: options.heartbeatMs ?? 10_000 });
  });
  return { name: 'simulated-nodes', queues: [podQueue, nodeQueue] };
}
