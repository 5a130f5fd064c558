/** The same controllers and decisions on a cluster that exists already, through its supported extension points. */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { QUORATE_VERSION } from '../../api/version.ts';
import { createDisruptionController, ledgerBook } from '../../controllers/disruption/index.ts';
import { createGroupEvictionController } from '../../controllers/group-eviction/index.ts';
import { createPodUnavailableBudgetController } from '../../controllers/pod-unavailable-budget/index.ts';
import { DisruptionIndex } from '../../decisions/disruption/index.ts';
import { BudgetIndexes, UnavailabilityFeed, unavailabilityGates } from '../../decisions/unavailability/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  createHttpTransport,
  createServerClock,
  ELECTION_DEADLINE_MS,
  electLeader,
  FeatureGates,
  type InformerSet,
  loadKubeconfig,
  Metrics,
  sleep,
  STALLED_MS,
  systemClock,
} from '../../machinery/runtime/index.ts';
import {
  type Callers,
  callersByCertificate,
  callersByToken,
  type HealthCheck,
  LedgerDesk,
  NAME,
  type NamespaceFollower,
  reviewAllBudgets,
  reviewBudget,
  reviewGroup,
  reviewGroupEviction,
  type ReviewHandler,
  reviewPod,
  sawPodsOfNow,
  serviceNames,
  startWebhookServer,
  type WebhookServer,
  withToken,
} from '../../webhook/index.ts';
import { runComponents, type RunningComponents } from '../run-components.ts';

import { createRefusalRecorder } from '../unavailability-refusals.ts';

import {
  ensureCertificate,
  followCertificate,
  keepCertificateFresh,
  readCertificate,
  type ServingCertificate,
} from './certificates.ts';
import { delegateAccess } from './delegated-access.ts';
import { isServed } from './discovery.ts';
import { listenForAnswers, operatorChecks } from './health.ts';
import { openHistory } from './history.ts';
import { MODE_ANNOTATION, REVIEWS_ANNOTATION, VERSION_ANNOTATION } from './lease.ts';
import { startMetricsServer } from './metrics-server.ts';
import type { Operator, OperatorOptions } from './options.ts';
import { createPicking } from './picking.ts';
import { settledGroup } from './group-evictions.ts';
import { preflight } from './preflight.ts';
import { projections } from './projections.ts';
import { keepRegistration } from './registration.ts';
import { openReviewTokens, type ReviewTokens } from './review-tokens.ts';
import { countRejected, measured } from './reviews.ts';

/** Groups of software beside ours. When it is uninstalled, budgets that never needed it must go on. */
const OTHERS = new Set(['leaderworkerset.x-k8s.io', 'apps.kruise.io', 'jobset.x-k8s.io']);
const RELEASE_LIMIT_MS = 3000;
/** What an eviction does to its pod and its budget comes in several events, which one count serves. */
const GATHER_MS = 50;
/** How often every budget is looked at without any event. */
const RESYNC_MS = 60_000;

/**
 * A review that comes just after an eviction must not wait until what became of that one's pod is taken in, which is no
 * news. What people change (budgets, groups, nodes) is heard at once. See ADR 0011.
 */
const PODS_LATER = new Map([['pods', 20]]);

export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { log, namespace } = options;
  const access = loadKubeconfig({ path: options.kubeconfig, context: options.context });
  const http = createHttpTransport(access);
  const answers = listenForAnswers(http.send, options.clock ?? systemClock);
  const { clock, transport: send } = createServerClock(answers.transport, { clock: options.clock ?? systemClock, log });
  const client = createClient({ transport: send, userAgent: 'quorate-operator' });
  const electionClient = createClient({
    transport: send,
    userAgent: 'quorate-operator',
    deadlineMs: ELECTION_DEADLINE_MS,
  });
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  try {
    const { version } = await preflight(client, { gates: options.gates ?? new FeatureGates(), namespace });
    const certificate = await openCertificate(options, client, clock);
    let serving = certificate;
    let stopping = false;
    const tokens =
      options.clients === undefined
        ? await openReviewTokens({ client, clock, log, namespace, signal: abort.signal })
        : undefined;
    // Before this process stands for election itself.
    const hasUnknownHistory = await openHistory(client, { clock, namespace });
    let leading = false;
    let ended = (): void => {};
    const released = new Promise<void>((resolve) => (ended = resolve));
    let elect = (): void => {};
    const elected = new Promise<void>((resolve) => (elect = resolve));
    const metrics = new Metrics();
    const metricsServer = await startMetricsServer({
      metrics,
      host: options.bind,
      port: options.metricsPort,
      log,
      guard:
        options.metricsOpen === true
          ? undefined
          : { certificate: certificate.pair, access: delegateAccess({ client, clock }) },
    });
    const registration = { authority: certificate.authority, token: tokens?.current() };
    const registered = keepRegistration({ client, clock, log, signal: abort.signal }, registration);
    const running = await startParts(options, {
      checksFor: (informers) =>
        operatorChecks({
          clock,
          informers,
          answers,
          certificate: () => serving,
          registration: () => registered.problem(),
          isStopping: () => stopping,
        }),
      client,
      clock,
      elected,
      metrics,
      send,
      certificate,
      tokens,
      hasUnknownHistory,
      signal: abort.signal,
    });
    // Only now: who cannot take its ports must not lead.
    void electLeader({
      client: electionClient,
      clock,
      log,
      namespace,
      name: NAME,
      identity: options.identity,
      annotations: {
        [MODE_ANNOTATION]: options.mode,
        [VERSION_ANNOTATION]: QUORATE_VERSION,
        [REVIEWS_ANNOTATION]: tokens === undefined ? 'Certificate' : 'Token',
      },
      signal: abort.signal,
      lost: options.lost,
      ended,
    }).then(() => {
      leading = true;
      elect();
    });
    tokens?.onRenewed((token) => void registered.set({ token }));
    const renewed = (next: ServingCertificate): void => {
      serving = next;
      running.webhook.setCertificate(next.pair);
      metricsServer.setCertificate(next.pair);
      void registered.set({ authority: next.authority });
    };
    const upkeep = { client, clock, namespace, hosts: hostsOf(options), log, signal: abort.signal };
    if (options.certificates === undefined) keepCertificateFresh(upkeep, certificate, renewed);
    else followCertificate(options.certificates, upkeep, certificate, renewed);
    await registered.set({});
    return {
      server: access.server,
      clusterVersion: version,
      webhookPort: running.webhook.port,
      metricsPort: metricsServer.port,
      authority: certificate.authority,
      reviewPath: (path) => withToken(tokens?.current(), path),
      isLeading: () => leading,
      ready: running.ready,
      async stop() {
        stopping = true;
        await running.webhook.close();
        // Ledgers let go of spare the other replicas the wait.
        await Promise.race([running.ledgers.close(), sleep(systemClock, RELEASE_LIMIT_MS)]);
        running.components.stop();
        abort.abort(new Error('The operator is stopping'));
        // A lease given back spares the successor the wait.
        await Promise.race([released, sleep(systemClock, RELEASE_LIMIT_MS)]);
        await metricsServer.close();
        http.close();
      },
    };
  } catch (error) {
    abort.abort(new Error('The operator could not start'));
    http.close();
    throw error;
  }
}

interface Parts {
  readonly checksFor: (informers: InformerSet) => readonly HealthCheck[];
  readonly client: Client;
  readonly clock: Clock;
  readonly elected: Promise<void>;
  readonly metrics: Metrics;
  readonly send: ReturnType<typeof createHttpTransport>['send'];
  readonly certificate: ServingCertificate;
  readonly tokens: ReviewTokens | undefined;
  readonly hasUnknownHistory: Awaited<ReturnType<typeof openHistory>>;
  readonly signal: AbortSignal;
}

async function startParts(
  options: OperatorOptions,
  parts: Parts,
): Promise<{ components: RunningComponents; ledgers: LedgerDesk; webhook: WebhookServer; ready: Promise<void> }> {
  const { client, clock, elected, metrics, send } = parts;
  const { log, mode } = options;
  const index = new DisruptionIndex();
  const compat = options.compat === 'kruise';
  const feed = new UnavailabilityFeed(new BudgetIndexes({ compat }));
  const { indexes } = feed;
  const leaderWorkerSets = await isServed(client, 'leaderworkerset.x-k8s.io', 'v1', 'leaderworkersets');
  const gates = options.gates ?? new FeatureGates();
  const picking = createPicking({ enabled: gates.enabled('DownscalePodPicker'), ...options.pickers });
  const groupEvictions = await isServed(client, 'policy.quorate.dev', 'v1alpha1', 'groupevictions');
  if (!groupEvictions) log.warn({}, 'GroupEvictions are not served: apply the definitions of this version');
  // A process that is started again under the same name does not know what the one before it granted.
  const identity = `${options.identity}/${randomBytes(4).toString('hex')}`;
  let desk: LedgerDesk | undefined;
  const deskOf = (informers: InformerSet): LedgerDesk =>
    (desk ??= new LedgerDesk({
      client,
      clock: options.clock ?? systemClock,
      now: () => clock.now(),
      index,
      ledgers: informers.of(disruptionLedgerType),
      sawPods: (namespace, signal) => sawPodsOfNow(podsFollowed(informers, client, clock), namespace, signal),
      identity,
      log,
      signal: parts.signal,
    }));
  const components = runComponents(
    {
      transportFor: () => send,
      clock,
      log,
      metrics,
      leading: elected,
      projections,
      stalledMs: STALLED_MS,
      optional: ({ group }) => OTHERS.has(group),
      gatherMs: PODS_LATER,
    },
    [
      createDisruptionController({
        index,
        gatherMs: GATHER_MS,
        settlingMs: options.settlingMs,
        book: ({ eventsFor, informers }) =>
          ledgerBook({
            client,
            clock,
            events: eventsFor('quorate'),
            budgets: informers.of(podDisruptionBudgetType),
            ledgers: deskOf(informers),
            pods: informers.of(podType),
            ownsStatus: mode === 'replace',
            hasUnknownHistory: parts.hasUnknownHistory,
          }),
        resyncMs: RESYNC_MS,
      }),
      createPodUnavailableBudgetController({ feed, leaderWorkerSets, compat, forReplicas: true }),
      picking.start,
      ...(groupEvictions
        ? [createGroupEvictionController((namespace, spec) => settledGroup(groups, namespace, spec))]
        : []),
    ],
  );
  const { informers } = components;
  const budgets = informers.of(podDisruptionBudgetType);
  const nodes = informers.of(nodeType);
  const ready = informers.whenSynced();
  const ledgers = deskOf(informers);
  const evictions = {
    ...podsFollowed(informers, client, clock),
    index,
    budget: (namespace: string, name: string) => budgets.get({ namespace, name }),
    isCordoned: (name: string) => nodes.get({ name })?.spec?.unschedulable === true,
    ledgers,
    identity,
    changes: mode === 'replace' ? ('barrier' as const) : ('read' as const),
  };
  const podGuard = {
    client,
    clock,
    podsResourceVersion: evictions.podsResourceVersion,
    indexes,
    gates: unavailabilityGates(gates),
    scaleOf: feed.scaleOf,
    compat,
    refused: createRefusalRecorder({ metrics, events: components.eventsFor('pub-webhook'), log }),
  };
  const groups = { ...evictions, ...podGuard };
  const handlers = new Map<string, ReviewHandler>([
    ...picking.handlers,
    ['/validate-eviction', (request, signal) => reviewAllBudgets(groups, request, signal)],
    ['/validate-pods', (request, signal) => reviewPod(podGuard, request, signal)],
    ['/validate-groups', (request, signal) => reviewGroupEviction(groups, request, signal)],
    ['/validate-pod-groups', (request) => Promise.resolve(reviewGroup(request))],
    ['/validate-budgets', (request) => Promise.resolve(reviewBudget(podGuard, request))],
  ]);
  const webhook = await startWebhookServer({
    certificate: parts.certificate.pair,
    host: options.bind,
    port: options.webhookPort,
    log,
    handlers: measured(handlers, metrics, clock),
    callers: callersOf(options, parts.tokens),
    rejected: countRejected(metrics),
    checks: parts.checksFor(informers),
  });
  return { components, ledgers, webhook, ready };
}

function podsFollowed(informers: InformerSet, client: Client, clock: Clock): NamespaceFollower {
  const pods = informers.of(podType);
  return {
    client,
    clock,
    podsResourceVersion: () => pods.resourceVersion,
    podsIn: (namespace) => pods.list(namespace),
  };
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
