import { leaseType, nodeType, podType } from '../../api/resource-types.ts';
import {
  type ControllerContext,
  type RunningController,
  runController,
  settled,
} from '../../machinery/runtime/index.ts';
import { defaultHealthPolicy, type HealthPolicy } from './health.ts';
import { NodeMonitor } from './monitor.ts';
import { wantedTaints } from './taints.ts';
import { defaultZonePolicy, type ZonePolicy } from './zones.ts';

export type { HealthPolicy } from './health.ts';
export type { ZonePolicy } from './zones.ts';

export interface NodeLifecycleOptions {
  readonly health?: HealthPolicy | undefined;
  readonly zones?: ZonePolicy | undefined;
  /** How often signs of life are looked for. Default 5 s. */
  readonly monitorPeriodMs?: number | undefined;
}

const BY_NODE = 'node-lifecycle/by-node';

/** Marks silent nodes, mirrors node conditions as taints, and paces how fast dead nodes are evicted from. */
export function startNodeLifecycleController(
  context: ControllerContext,
  options: NodeLifecycleOptions = {},
): RunningController {
  const { client, clock, informers, log, signal } = context;
  const nodes = informers.of(nodeType);
  const leases = informers.of(leaseType);
  const pods = informers.of(podType);
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  const monitor = new NodeMonitor({
    client,
    clock,
    events: context.eventsFor('node-controller'),
    nodes,
    leases,
    podsOf: (node) => pods.byIndex(BY_NODE, node),
    health: options.health ?? defaultHealthPolicy,
    zones: options.zones ?? defaultZonePolicy,
  });
  /** Nodes allowed to be evicted from, until the taint is on. */
  const granted = new Set<string>();

  const ready = async (): Promise<void> => {
    await Promise.all([nodes.whenSynced(), leases.whenSynced(), pods.whenSynced()]);
  };
  const { queue } = runController({
    name: 'node-lifecycle',
    context,
    workers: 8,
    ready,
    reconcile: async ({ name }) => {
      const node = nodes.get({ name });
      if (node === undefined) {
        granted.delete(name);
        return settled;
      }
      const taints = wantedTaints(node, { evict: granted.has(name), now: clock.now() });
      if (taints !== undefined) {
        const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints } };
        await client.patch(nodeType, { name }, { type: 'merge', body });
      }
      granted.delete(name);
      return settled;
    },
  });
  const look = ({ metadata }: { metadata: { name?: string | undefined } }): void => queue.add(metadata.name ?? '');
  nodes.addHandler({ added: look, updated: look, deleted: look });

  const watchOver = async (): Promise<void> => {
    try {
      for (const name of await monitor.pass()) {
        granted.add(name);
        queue.add(name);
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ error: String(error) }, 'a pass over the nodes failed');
    }
    if (!signal.aborted) clock.after(options.monitorPeriodMs ?? 5000, () => void watchOver());
  };
  void ready().then(watchOver);
  return { name: 'node-lifecycle', queues: [queue] };
}
