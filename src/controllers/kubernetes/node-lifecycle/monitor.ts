import { podCondition } from '../../../api/core/pod-state.ts';
import type { Lease } from '../../../api/generated/coordination-v1.ts';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  existing,
  type Informer,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import {
  type HealthPolicy,
  readyCondition,
  type SeenHealth,
  seeHealth,
  silentAt,
  unknownConditions,
} from './health.ts';
import { evictingTaintKey, hasEvictingTaint } from './taints.ts';
import { evictionRates, type ZoneCount, type ZonePolicy, zoneOf } from './zones.ts';

export interface MonitorDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly nodes: Informer<Node>;
  readonly leases: Informer<Lease>;
  readonly isAlive?: ((node: Node) => boolean) | undefined;
  readonly podsOf: (node: string) => readonly Pod[];
  readonly health: HealthPolicy;
  readonly zones: ZonePolicy;
}

const EXCLUDED = 'node.kubernetes.io/exclude-disruption';

/** Watches over the nodes' signs of life. */
export class NodeMonitor {
  readonly #deps: MonitorDeps;
  readonly #seen = new Map<string, SeenHealth>();
  readonly #lastEviction = new Map<string, number>();

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
  }

  /**
   * One pass over all nodes: silent ones turn Unknown and their pods unready. Answers the nodes that may now be given
   * an evicting taint.
   */
  async pass(): Promise<string[]> {
    const { clock, nodes } = this.#deps;
    const now = clock.now();
    const waiting: Node[] = [];
    const zones = new Map<string, ZoneCount>();
    for (const name of this.#seen.keys()) if (nodes.get({ name }) === undefined) this.#seen.delete(name);
    for (const node of nodes.list()) {
      const current = (await this.#look(node, now)) ?? node;
      const isReady = readyCondition(current)?.status === 'True';
      if (current.metadata.labels?.[EXCLUDED] === undefined) {
        const count = zones.get(zoneOf(current)) ?? { ready: 0, unready: 0 };
        zones.set(zoneOf(current), {
          ready: count.ready + (isReady ? 1 : 0),
          unready: count.unready + (isReady ? 0 : 1),
        });
      }
      if (evictingTaintKey(current) !== undefined && !hasEvictingTaint(current)) waiting.push(current);
    }
    return this.#grant(waiting, evictionRates(zones, this.#deps.zones), clock.elapsed());
  }

  #grant(waiting: readonly Node[], rates: ReadonlyMap<string, number>, now: number): string[] {
    const granted: string[] = [];
    for (const node of waiting) {
      const zone = zoneOf(node);
      const rate = rates.get(zone) ?? 0;
      const last = this.#lastEviction.get(zone);
      if (rate === 0 || (last !== undefined && now - last < 1000 / rate)) continue;
      this.#lastEviction.set(zone, now);
      granted.push(node.metadata.name ?? '');
    }
    return granted;
  }

  /** Answers the node as written, when something had to be. */
  async #look(node: Node, now: number): Promise<Node | undefined> {
    const { client, clock, events, health, isAlive, leases } = this.#deps;
    const name = node.metadata.name ?? '';
    const lease = leases.get({ namespace: 'kube-node-lease', name });
    const told = seeHealth(this.#seen.get(name), node, lease, clock);
    const seen = isAlive?.(node) === true ? { ...told, probedAt: clock.elapsed() } : told;
    this.#seen.set(name, seen);
    if (silentAt(node, seen, health) >= clock.elapsed()) return undefined;
    const conditions = unknownConditions(node, now);
    if (conditions.length === 0) return undefined;
    const wasReady = readyCondition(node)?.status === 'True';
    const patch = { type: 'strategic', body: { status: { conditions } } } as const;
    const written = await existing(client.patch(nodeType, { name }, patch, { subresource: 'status' }));
    if (written === undefined) return undefined;
    if (wasReady) {
      events.record(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
      await this.#markPodsUnready(name, now);
    }
    return written;
  }

  async #markPodsUnready(node: string, now: number): Promise<void> {
    const { client, events, podsOf } = this.#deps;
    for (const pod of podsOf(node)) {
      const ready = podCondition(pod, 'Ready');
      if (ready?.status !== 'True') continue;
      const { name = '', namespace, uid } = pod.metadata;
      events.record(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
      const condition = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(now) };
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      await client
        .patch(podType, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    }
  }
}
