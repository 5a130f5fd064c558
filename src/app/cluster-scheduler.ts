/** Our scheduler as one more scheduler of a cluster that exists already. */
import { hostname } from 'node:os';
import {
  createClient,
  createHttpTransport,
  ELECTION_DEADLINE_MS,
  electLeader,
  loadKubeconfig,
  type Logger,
  STALLED_MS,
  systemClock,
} from '../machinery/runtime/index.ts';
import { createScheduler } from '../scheduler/index.ts';
import { runComponents } from './run-components.ts';

export interface ClusterSchedulerOptions {
  /** Default: as kubectl finds it. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Pods that name this scheduler are its business. Default `quorate-scheduler`. */
  readonly schedulerName?: string | undefined;
  /** Where the Lease is kept on which schedulers of one name agree who works. Default `kube-system`. */
  readonly namespace?: string | undefined;
  /** The lease was lost and this scheduler has stopped. */
  readonly lost?: (() => void) | undefined;
  readonly log: Logger;
}

export interface ClusterScheduler {
  readonly server: string;
  readonly schedulerName: string;
  /** Resolves when this one is at work; others of its name stand by. */
  readonly elected: Promise<void>;
  stop(): void;
}

/** Throws when the cluster cannot be reached at all; later losses are waited out. */
export async function startClusterScheduler(options: ClusterSchedulerOptions): Promise<ClusterScheduler> {
  const { log, schedulerName = 'quorate-scheduler' } = options;
  const access = loadKubeconfig({ path: options.kubeconfig, context: options.context });
  const http = createHttpTransport(access);
  const client = createClient({ transport: http.send, userAgent: 'quorate-scheduler' });
  try {
    await client.request('GET', '/version');
  } catch (error) {
    http.close();
    throw error;
  }
  const abort = new AbortController();
  const elected = electLeader({
    client: createClient({
      transport: http.send,
      userAgent: 'quorate-scheduler',
      deadlineMs: ELECTION_DEADLINE_MS,
    }),
    clock: systemClock,
    log,
    namespace: options.namespace ?? 'kube-system',
    name: schedulerName,
    identity: `${hostname()}_${crypto.randomUUID()}`,
    signal: abort.signal,
    // Two schedulers of one name would place pods twice into the same room: better none for a moment.
    lost() {
      log.error({ lease: schedulerName }, 'lost the lease; another scheduler may be at work');
      abort.abort();
      options.lost?.();
    },
  }).then(() => {
    if (abort.signal.aborted) return;
    const host = {
      transportFor: () => http.send,
      clock: systemClock,
      log,
      stalledMs: STALLED_MS,
      signal: abort.signal,
    };
    runComponents(host, [createScheduler({ schedulerName })]);
  });
  return { server: access.server, schedulerName, elected, stop: () => abort.abort() };
}
