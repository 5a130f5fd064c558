import { leaseType, nodeType, podType } from '../../../api/resource-types.ts';
import type { Node } from '../../../api/generated/core-v1.ts';
import { type Controller, defineController, settled, watch } from '../../../machinery/runtime/index.ts';
import { defaultHealthPolicy } from './health.ts';
import { NodeMonitor } from './monitor.ts';
import { wantedTaints } from './taints.ts';
import { defaultZonePolicy } from './zones.ts';

const NAME = 'node-lifecycle';
/** How often signs of life are looked for. */
const MONITOR_PERIOD_MS = 5000;
const BY_NODE = 'node-lifecycle/by-node';

/**
 * Marks silent nodes, mirrors node conditions as taints, and paces how fast dead nodes are evicted from.
 * @param isAlive where it is known without being told: whether a node lives at this moment
 */
export const createNodeLifecycleController = (isAlive?: (node: Node) => boolean): Controller =>
  defineController({
    name: NAME,
    workers: 8,
    deps(context, queueOf) {
      const { client, clock, informers } = context;
      const nodes = informers.of(nodeType);
      const pods = informers.of(podType);
      pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
      const monitor = new NodeMonitor({
        client,
        clock,
        events: context.eventsFor('node-controller'),
        nodes,
        leases: informers.of(leaseType),
        isAlive,
        podsOf: (node) => pods.byIndex(BY_NODE, node),
        health: defaultHealthPolicy,
        zones: defaultZonePolicy,
      });
      /** Nodes allowed to be evicted from, until the taint is on. */
      const granted = new Set<string>();
      return { client, clock, nodes, monitor, granted, queue: queueOf(NAME) };
    },
    watches: ({ nodes }) => [watch(nodes)],
    async reconcile({ client, clock, granted, nodes }, { name }) {
      const node = nodes.get({ name });
      const taints = node && wantedTaints(node, { evict: granted.has(name), now: clock.now() });
      if (taints !== undefined) {
        const body = { metadata: { resourceVersion: node?.metadata.resourceVersion }, spec: { taints } };
        await client.patch(nodeType, { name }, { type: 'merge', body });
      }
      granted.delete(name);
      return settled;
    },
    passes: [
      {
        everyMs: MONITOR_PERIOD_MS,
        atStart: true,
        async pass({ granted, monitor, queue }) {
          for (const name of await monitor.pass()) {
            granted.add(name);
            queue.add(name);
          }
        },
      },
    ],
  });
