/** What a scheduler on a cluster answers: metrics, and the probes of its pod. */
import { hostname } from 'node:os';
import { createAuthority, issueServer, type KeyPair } from '../machinery/runtime/certificates.ts';
import { type Client, type InformerSet, type Logger, type Metrics, systemClock } from '../machinery/runtime/index.ts';
import { watchEventLoop } from '../webhook/index.ts';
import { delegateAccess } from './operator/delegated-access.ts';
import { type ApiAnswers, answersCheck, cachesCheck, stoppingCheck } from './operator/health.ts';
import { type MetricsServer, startMetricsServer } from './operator/metrics-server.ts';

export interface SchedulerState {
  leading: boolean;
  stopping: boolean;
  /** Undefined on a scheduler that stands by. */
  informers: InformerSet | undefined;
}

export interface SchedulerServerOptions {
  readonly bind?: string | undefined;
  readonly metricsPort?: number | undefined;
  readonly metricsOpen?: boolean | undefined;
  readonly log: Logger;
}

interface Served {
  readonly answers: ApiAnswers;
  readonly client: Client;
  readonly metrics: Metrics;
  readonly state: SchedulerState;
}

export async function serveScheduler(
  { bind = '127.0.0.1', log, metricsOpen, metricsPort = 0 }: SchedulerServerOptions,
  { answers, client, metrics, state }: Served,
): Promise<MetricsServer> {
  const clock = systemClock;
  const loop = watchEventLoop(clock);
  const ready = [cachesCheck(() => state.informers), answersCheck(answers), stoppingCheck(() => state.stopping)];
  const server = await startMetricsServer({
    metrics,
    host: bind,
    port: metricsPort,
    log,
    probes: new Map([
      ['/startupz', []],
      ['/livez', [loop]],
      ['/healthz', [loop]],
      ['/readyz', ready],
    ]),
    guard:
      metricsOpen === true
        ? undefined
        : { certificate: await ownCertificate(), access: delegateAccess({ client, clock }) },
  });
  return {
    ...server,
    async close() {
      loop.stop();
      await server.close();
    },
  };
}

const CERTIFICATE_DAYS = 3650;

/** Nobody but scrapers and the kubelet calls, and neither looks who signed it. */
async function ownCertificate(): Promise<KeyPair> {
  const term = { now: systemClock.now(), days: CERTIFICATE_DAYS };
  const authority = await createAuthority('quorate-scheduler-ca', term);
  return issueServer(authority, 'quorate-scheduler', [hostname(), 'localhost', '127.0.0.1'], term);
}
