/** Our scheduler as one more scheduler of a cluster that exists already. */
import { hostname } from 'node:os';
import {
  createClient,
  createHttpTransport,
  ELECTION_DEADLINE_MS,
  electLeader,
  loadKubeconfig,
  type Logger,
  Metrics,
  STALLED_MS,
  systemClock,
} from '../machinery/runtime/index.ts';
import { createScheduler } from '../scheduler/index.ts';
import { listenForAnswers } from './operator/health.ts';
import type { MetricsServer } from './operator/metrics-server.ts';
import { countProcess } from './process-metrics.ts';
import { runComponents } from './run-components.ts';
import { type SchedulerState, serveScheduler } from './scheduler-server.ts';

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
  /** Where metrics and probes are answered. Default: on a free port of this machine. */
  readonly bind?: string | undefined;
  readonly metricsPort?: number | undefined;
  /** Anybody may read the metrics, without TLS; otherwise those whom the API server lets get /metrics. */
  readonly metricsOpen?: boolean | undefined;
}

export interface ClusterScheduler {
  readonly server: string;
  readonly schedulerName: string;
  /** Resolves when this one is at work; others of its name stand by. */
  readonly elected: Promise<void>;
  readonly metricsPort: number;
  stop(): void;
}

/** Throws when the cluster cannot be reached at all; later losses are waited out. */
export async function startClusterScheduler(options: ClusterSchedulerOptions): Promise<ClusterScheduler> {
  const { log, schedulerName = 'quorate-scheduler' } = options;
  const access = loadKubeconfig({ path: options.kubeconfig, context: options.context });
  const http = createHttpTransport(access);
  const answers = listenForAnswers(http.send, systemClock);
  const client = createClient({ transport: answers.transport, userAgent: 'quorate-scheduler' });
  const state: SchedulerState = { leading: false, stopping: false, informers: undefined };
  const metrics = new Metrics('scheduler');
  let server: MetricsServer;
  try {
    await client.request('GET', '/version');
    server = await serveScheduler(options, { answers, client, metrics, state });
  } catch (error) {
    http.close();
    throw error;
  }
  const abort = new AbortController();
  abort.signal.addEventListener('abort', () => {
    state.stopping = true;
    void server.close();
  });
  const elected = electLeader({
    client: createClient({
      transport: answers.transport,
      userAgent: 'quorate-scheduler',
      deadlineMs: ELECTION_DEADLINE_MS,
    }),
    clock: systemClock,
    log,
    namespace: options.namespace ?? 'kube-system',
    name: schedulerName,
    identity: `${hostname()}_${crypto.randomUUID()}`,
    signal: abort.signal,
    renewed: countProcess(metrics, {
      clock: systemClock,
      isLeading: () => state.leading,
      informers: () => state.informers,
      mode: 'scheduler',
    }),
    // Two schedulers of one name would place pods twice into the same room: better none for a moment.
    lost() {
      log.error({ lease: schedulerName }, 'lost the lease; another scheduler may be at work');
      abort.abort();
      options.lost?.();
    },
  }).then(() => {
    if (abort.signal.aborted) return;
    const host = {
      transportFor: () => answers.transport,
      metrics,
      clock: systemClock,
      log,
      stalledMs: STALLED_MS,
      signal: abort.signal,
    };
    state.leading = true;
    state.informers = runComponents(host, [createScheduler({ schedulerName })]).informers;
  });
  const { port: metricsPort } = server;
  return { server: access.server, schedulerName, elected, metricsPort, stop: () => abort.abort() };
}
