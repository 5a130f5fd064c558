/**
 * Whether another replica takes over when this one says that it is not ready. What is wrong with the leader alone keeps it
 * from no review: without another it is still the best that there is, and an API server that finds nobody refuses
 * everything.
 */
import { networkInterfaces } from 'node:os';
import type { Client, Clock } from '../../machinery/runtime/index.ts';
import { readyEndpoints } from './reachable.ts';

/** Probes come every few seconds, and the answer changes seldom. */
const LOOK_AGAIN_MS = 10_000;

export interface OtherReplicas {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  /** Whether reviews come through the Service, which leaves out who is not ready. */
  readonly isBehindService: () => boolean;
}

/** Undefined where another replica is ready, or where readiness leads nobody elsewhere; looked up while it is asked. */
export function excuseWhileAlone({
  client,
  clock,
  isBehindService,
  namespace,
}: OtherReplicas): () => string | undefined {
  const alone = 'no other replica is';
  let excuse: string | undefined = alone;
  let lookedMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const own = new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
    const ready = await readyEndpoints(client, namespace);
    const hasOther = ready.some(({ addresses = [] }) => addresses.some((address) => !own.has(address)));
    excuse = hasOther ? undefined : alone;
  };
  return () => {
    if (!isBehindService()) return undefined;
    if (clock.elapsed() - lookedMs >= LOOK_AGAIN_MS) {
      lookedMs = clock.elapsed();
      // Who cannot ask keeps the answer from before; another check tells of it.
      look().catch(() => {});
    }
    return excuse;
  };
}
