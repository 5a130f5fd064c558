import type { Node } from '../api/generated/core-v1.ts';
import {
  type Client,
  type Clock,
  type Informer,
  isAlreadyExists,
  isNotFound,
  type Logger,
} from '../machinery/runtime/index.ts';
import { formatMicroTime } from '../machinery/values/index.ts';
import { builtinType } from '../api/registry.ts';
import type { NodeFleet } from './fleet.ts';
import { leaseType } from '../api/resource-types.ts';

const NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
/** A node's status is posted this often even when nothing in it changes. */
const POST_EVERY_MS = 300_000;
const IN_FLIGHT = 64;
const NODES_PER_SLOT = 500;
const MAX_SLOTS = 10;

export interface HeartbeatOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fleet: NodeFleet;
  readonly nodes: Informer<Node>;
  readonly signal: AbortSignal;
  /** How often each node renews its Lease. */
  readonly everyMs: number;
}

/**
 * Renews the Leases of all powered nodes. Large fleets are spread over slots of the period, so that the
 * server sees an even trickle and one timer serves all.
 */
export function startHeartbeats(options: HeartbeatOptions): void {
  const { clock, everyMs, fleet, log, signal } = options;
  const lastPost = new Map<string, number>();
  let slot = 0;
  const tick = (): void => {
    if (signal.aborted) return;
    const slots = Math.min(Math.max(Math.ceil(fleet.size / NODES_PER_SLOT), 1), MAX_SLOTS);
    const due = [...fleet.members()].filter(({ on }, index) => on && index % slots === slot % slots);
    slot += 1;
    clock.after(everyMs / slots, tick);
    const failed: { node: string; error: unknown }[] = [];
    const beats = inParallel(due, async ({ name }) => {
      try {
        await beat(options, name, lastPost);
      } catch (error) {
        failed.push({ node: name, error });
      }
    });
    // One line for all: a server that cannot be reached fails thousands of nodes at once.
    void beats.then(() => {
      const [first] = failed;
      if (first === undefined || signal.aborted) return;
      log.warn({ nodes: failed.length, first: first.node, error: String(first.error) }, 'heartbeats could not be sent');
    });
  };
  tick();
}

/** One heartbeat: the Lease always, the status when another party changed it or its time has come. */
export async function beat(
  { client, clock, fleet, nodes }: Pick<HeartbeatOptions, 'client' | 'clock' | 'fleet' | 'nodes'>,
  name: string,
  lastPost: Map<string, number>,
): Promise<void> {
  await renewLease(client, name, nodes.get({ name })?.metadata.uid, clock.now());
  await fleet.sync(name);
  const posted = lastPost.get(name) ?? clock.elapsed();
  if (!lastPost.has(name)) lastPost.set(name, posted);
  if (clock.elapsed() - posted < POST_EVERY_MS) return;
  lastPost.set(name, clock.elapsed());
  await fleet.post(name);
}

export async function renewLease(client: Client, name: string, uid: string | undefined, now: number): Promise<void> {
  const renewTime = formatMicroTime(now);
  const body = { spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime } };
  try {
    await client.patch(leaseType, { namespace: NAMESPACE, name }, { type: 'merge', body });
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const lease = {
    metadata: {
      namespace: NAMESPACE,
      name,
      ...(uid !== undefined && { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] }),
    },
    ...body,
  };
  try {
    await client.create(leaseType, lease);
  } catch (error) {
    if (isAlreadyExists(error)) return;
    if (!isNotFound(error)) throw error;
    await client.create(builtinType('Namespace'), { metadata: { name: NAMESPACE } }).catch((refused: unknown) => {
      if (!isAlreadyExists(refused)) throw refused;
    });
    await client.create(leaseType, lease);
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const run = async (): Promise<void> => {
    for (const item of iterator) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, items.length) }, run));
}
