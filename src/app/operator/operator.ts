/** The same controllers and decisions on a cluster that exists already, through its supported extension points. */
import { setMaxListeners } from 'node:events';
import { QUORATE_VERSION } from '../../api/version.ts';
import { PUBLICATION } from '../../decisions/disruption/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  createHttpTransport,
  createServerClock,
  type Deferred,
  deferred,
  ELECTION_DEADLINE_MS,
  electLeader,
  FeatureGates,
  loadKubeconfig,
  Metrics,
  sleep,
  systemClock,
  type Transport,
} from '../../machinery/runtime/index.ts';
import {
  type Callers,
  callersByCertificate,
  callersByToken,
  NAME,
  startWebhookServer,
  type WebhookServer,
  withToken,
  serviceNames,
} from '../../webhook/index.ts';

import {
  ensureCertificate,
  followCertificate,
  keepCertificateFresh,
  type NotStored,
  readCertificate,
  type ServingCertificate,
} from './certificates.ts';
import { countCertificates } from './certificate-metrics.ts';
import { serveDashboard } from './dashboard.ts';
import { delegateAccess } from './delegated-access.ts';
import { countProcess } from '../process-metrics.ts';
import { type ApiAnswers, listenForAnswers, operatorChecks } from './health.ts';
import { openHistory } from './history.ts';
import { MODE_ANNOTATION, REVIEWS_ANNOTATION, VERSION_ANNOTATION } from './lease.ts';
import { excuseWhileAlone } from './other-replicas.ts';
import { startMetricsServer } from './metrics-server.ts';
import type { Operator, OperatorOptions } from './options.ts';
import { openJudges } from './judges.ts';
import { watchForPauses } from './pauses.ts';
import { preflight } from './preflight.ts';
import { createGuard } from './guard.ts';
import { openReviewTokens, type ReviewTokens } from './review-tokens.ts';
import { countRejected, measured } from './reviews.ts';

const RELEASE_LIMIT_MS = 3000;

/** The way to the cluster, and the time that its API server has. */
interface Connection {
  readonly server: string;
  readonly client: Client;
  readonly electionClient: Client;
  readonly clock: Clock;
  /** This machine's. */
  readonly ownClock: Clock;
  readonly skewMs: () => number;
  readonly send: Transport;
  readonly answers: ApiAnswers;
  readonly close: () => void;
}

export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const connection = connect(options);
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  try {
    return await startOn(connection, options, abort);
  } catch (error) {
    abort.abort(new Error('The operator could not start'));
    connection.close();
    throw error;
  }
}

function connect({ clock: own = systemClock, context, kubeconfig, log }: OperatorOptions): Connection {
  const access = loadKubeconfig({ path: kubeconfig, context });
  const http = createHttpTransport(access);
  const answers = listenForAnswers(http.send, own);
  const server = createServerClock(answers.transport, { clock: own, log });
  const { clock, transport } = server;
  const named = { transport, userAgent: 'quorate-operator' };
  return {
    server: access.server,
    client: createClient(named),
    electionClient: createClient({ ...named, deadlineMs: ELECTION_DEADLINE_MS }),
    clock,
    ownClock: own,
    skewMs: () => server.skewMs(),
    send: transport,
    answers,
    close: () => http.close(),
  };
}

/** What changes while the operator runs. */
interface OperatorState {
  certificate: ServingCertificate;
  notStored: NotStored;
  stopping: boolean;
  leading: boolean;
  synced: boolean;
  port: number;
}

async function startOn(connection: Connection, options: OperatorOptions, abort: AbortController): Promise<Operator> {
  const { client, clock, send } = connection;
  const { log, namespace } = options;
  const { signal } = abort;
  const { version } = await preflight(client, { gates: options.gates ?? new FeatureGates(), namespace });
  const certificate = await openCertificate(options, client, clock);
  const withTokens = options.clients === undefined;
  const tokens = withTokens ? await openReviewTokens({ client, clock, log, namespace, signal }) : undefined;
  // Before this process stands for election itself.
  const hasUnknownHistory = await openHistory(client, { clock, namespace });
  const notStored: NotStored = () => undefined;
  const state: OperatorState = { certificate, notStored, stopping: false, leading: false, synced: false, port: 0 };
  const elected = deferred();
  const released = deferred();
  const metrics = new Metrics('operator');
  const metricsServer = await serveMetrics(options, connection, { certificate, metrics });
  const dashboard = await serveDashboard(options, certificate, clock);
  const sources = {
    client,
    clock,
    log,
    metrics,
    signal,
    isLeading: () => state.leading && state.synced,
    authority: () => state.certificate.authority,
    port: () => state.port,
  };
  const guard = await createGuard(options, sources, { authority: certificate.authority, token: tokens?.current() });
  const { registered } = guard;
  const { isLeading } = sources;
  const { skewMs } = connection;
  const leading = elected.promise;
  const parts = { client, clock, skewMs, leading, isLeading, metrics, send, hasUnknownHistory, signal, guard };
  const judges = await openJudges(options, parts);
  const { informers } = judges.components;
  const process = { clock, isLeading: () => state.leading, informers: () => informers, mode: options.mode };
  const renewedLease = countProcess(metrics, { ...process, publication: PUBLICATION });
  countCertificates(metrics, () => state.certificate);
  judges.startControllers();
  const ready = informers.whenSynced();
  const webhook = await serveReviews(options, connection, { guard, judges, metrics, state, tokens, signal });
  state.port = webhook.port;
  metrics.countedGauge('quorate_bodies_in_flight_bytes', () => [[{}, webhook.bodyBytes]]);
  void ready.then(() => {
    state.synced = true;
    guard.follow(informers);
  });
  // Only now: who cannot take its ports must not lead.
  const lost = (): void => void stepDown(judges, webhook).finally(options.lost);
  const election = { signal, withTokens, released, renewed: renewedLease, lost };
  void standForElection(options, connection, election).then(() => {
    state.leading = true;
    elected.resolve();
    void registered.look();
  });
  tokens?.onRenewed((token) => void registered.set({ token }));
  state.notStored = keepCertificate(options, connection, signal, certificate, (next) => {
    webhook.setCertificate(next.pair);
    metricsServer.setCertificate(next.pair);
    dashboard?.setCertificate(next.pair);
    state.certificate = next;
    void registered.set({ authority: next.authority });
  });
  await registered.set({});
  return {
    server: connection.server,
    clusterVersion: version,
    webhookPort: webhook.port,
    metricsPort: metricsServer.port,
    dashboardPort: dashboard?.port,
    authority: certificate.authority,
    reviewPath: (path) => withToken(tokens?.current(), path),
    isLeading: () => state.leading,
    ready,
    stop() {
      state.stopping = true;
      return stopAll({ abort, connection, dashboard, judges, metricsServer, released, webhook });
    },
  };
}

function serveMetrics(
  { bind, log, metricsOpen, metricsPort }: OperatorOptions,
  { client, clock }: Connection,
  { certificate, metrics }: { certificate: ServingCertificate; metrics: Metrics },
) {
  const readers = { certificate: certificate.pair, access: delegateAccess({ client, clock }) };
  const guard = metricsOpen === true ? undefined : readers;
  return startMetricsServer({ metrics, host: bind, port: metricsPort, log, guard });
}

interface ReviewParts {
  readonly guard: Awaited<ReturnType<typeof createGuard>>;
  readonly judges: Awaited<ReturnType<typeof openJudges>>;
  readonly metrics: Metrics;
  readonly state: OperatorState;
  readonly tokens: ReviewTokens | undefined;
  readonly signal: AbortSignal;
}

function serveReviews(
  options: OperatorOptions,
  { answers, client, clock, ownClock }: Connection,
  { guard, judges, metrics, signal, state, tokens }: ReviewParts,
) {
  const isBehindService = (): boolean => guard.registered.isBehindService();
  return startWebhookServer({
    certificate: state.certificate.pair,
    host: options.bind,
    port: options.webhookPort,
    log: options.log,
    handlers: measured(judges.handlers, metrics, clock),
    callers: callersOf(options, tokens),
    rejected: countRejected(metrics),
    checks: operatorChecks({
      clock,
      informers: judges.components.informers,
      answers,
      certificate: () => state.certificate,
      notStored: () => state.notStored(),
      pauses: watchForPauses({ clock: ownClock, log: options.log, signal, sawPods: judges.sawPods }),
      registration: () => guard.registered.problem(),
      configurations: () => configurationsProblem(guard),
      resyncAgeMs: () => (state.leading && state.synced ? judges.resyncAgeMs() : undefined),
      alone: excuseWhileAlone({ client, clock, namespace: options.namespace, isBehindService }),
      isStopping: () => state.stopping,
    }),
  });
}

function configurationsProblem({ registered }: ReviewParts['guard']): string | undefined {
  const deleted = registered.deleted();
  return deleted.length === 0 ? undefined : `${deleted.join(', ')}: deleted; apply the manifests again`;
}

function keepCertificate(
  options: OperatorOptions,
  { client, clock }: Connection,
  signal: AbortSignal,
  certificate: ServingCertificate,
  use: (next: ServingCertificate) => void,
): NotStored {
  const { certificates, log, namespace } = options;
  const upkeep = { clock, log, signal, use };
  if (certificates !== undefined) return followCertificate(certificates, upkeep, certificate);
  return keepCertificateFresh({ client, clock, namespace, hosts: hostsOf(options) }, upkeep, certificate);
}

interface RunningParts {
  readonly abort: AbortController;
  readonly connection: Connection;
  readonly judges: ReviewParts['judges'];
  readonly dashboard: { close(): Promise<void> } | undefined;
  readonly metricsServer: { close(): Promise<void> };
  readonly released: Deferred<void>;
  readonly webhook: WebhookServer;
}

async function stopAll(parts: RunningParts): Promise<void> {
  const { abort, connection, dashboard, judges, metricsServer, released, webhook } = parts;
  await webhook.close();
  // Ledgers let go of spare the other replicas the wait.
  await Promise.race([judges.ledgers.close(), sleep(systemClock, RELEASE_LIMIT_MS)]);
  judges.components.stop();
  abort.abort(new Error('The operator is stopping'));
  // A lease given back spares the successor the wait.
  await Promise.race([released.promise, sleep(systemClock, RELEASE_LIMIT_MS)]);
  await Promise.all([metricsServer.close(), dashboard?.close()]);
  connection.close();
}

/** Of a leader that leads no more: it does nothing further, and whoever waits for an answer here is told to come again. */
async function stepDown(judges: ReviewParts['judges'], webhook: WebhookServer): Promise<void> {
  judges.components.stop();
  await webhook.decideNoMore('this replica has lost its lease and ends; try again');
}

interface Election {
  readonly signal: AbortSignal;
  readonly withTokens: boolean;
  readonly released: Deferred<void>;
  readonly renewed: () => void;
  readonly lost: () => void;
}

function standForElection(
  { identity, log, mode, namespace }: OperatorOptions,
  { clock, electionClient }: Connection,
  { lost, released, renewed, signal, withTokens }: Election,
): Promise<void> {
  return electLeader({
    client: electionClient,
    clock,
    log,
    namespace,
    name: NAME,
    identity,
    annotations: {
      [MODE_ANNOTATION]: mode,
      [VERSION_ANNOTATION]: QUORATE_VERSION,
      [REVIEWS_ANNOTATION]: withTokens ? 'Token' : 'Certificate',
    },
    signal,
    lost,
    renewed,
    ended: released.resolve,
  });
}

function callersOf({ clients }: OperatorOptions, tokens: ReviewTokens | undefined): Callers {
  if (tokens !== undefined) return callersByToken({ tokens: () => tokens.valid(), refresh: () => tokens.refresh() });
  return callersByCertificate(clients?.authority ?? '', clients?.names);
}

function openCertificate(options: OperatorOptions, client: Client, clock: Clock): Promise<ServingCertificate> {
  if (options.certificates !== undefined) return Promise.resolve(readCertificate(options.certificates, clock.now()));
  return ensureCertificate({ client, clock, namespace: options.namespace, hosts: hostsOf(options) });
}

function hostsOf({ hosts = [], namespace }: OperatorOptions): string[] {
  return [...serviceNames(namespace), ...hosts];
}
