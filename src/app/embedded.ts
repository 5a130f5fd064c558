/** The whole embedded host in one process: store, API server, controllers and simulated nodes. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type ApiHandler,
  bootstrapFlowControl,
  bootstrapRoles,
  FRONT_PROXY,
  inProcessTransport,
  keepApiServices,
  legacyTokenIssuer,
  type Listening,
  listen,
  openPki,
  type Pki,
  systemAdmin,
  type TlsMaterial,
  type UserInfo,
  writeKubeconfig,
} from '../apiserver/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  FeatureGates,
  type Logger,
  Metrics,
  type Controller,
  systemClock,
  type Transport,
} from '../machinery/runtime/index.ts';
import { AnswerQueue, type HistoryBounds } from '../decisions/history/index.ts';
import { type Rules, createSimulatedNodes } from '../nodes/index.ts';
import { createMemoryStore, openLmdbStore, type Store } from '../storage/index.ts';
import { bootstrapObjects, publishAuthentication, publishServer } from './bootstrap.ts';
import { componentUser } from './component-user.ts';
import { embeddedComponents, type PickerOptions } from './components.ts';
import { createEmbeddedDashboard } from './dashboard/index.ts';
import { watchForJumps } from './clock-jumps.ts';
import { createPlane, RoomLink } from './plane.ts';
import { type Components, runComponents } from './run-components.ts';
import { mayBeReplaced } from './yielding.ts';

export interface EmbeddedOptions {
  /** Where data and secrets live; absent: in memory, gone when the process ends. */
  readonly dataDirectory?: string | undefined;
  readonly port: number;
  /** Address to listen on. */
  readonly bind: string;
  readonly kubeconfig: string;
  readonly nodes: number;
  /**
   * No controllers, no scheduler and no nodes, and no kind that is not Kubernetes' own; pods then need no service account,
   * as nobody makes them.
   */
  readonly apiOnly?: boolean | undefined;
  readonly rules?: Rules | undefined;
  /** The dashboard may cordon, drain, pause and resume, with the rights of whoever looks at it. */
  readonly allowWrites?: boolean | undefined;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly gates?: FeatureGates | undefined;
  readonly pickers?: PickerOptions | undefined;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
  /** How much of the record of disruptions is kept. Default: 30 days, 256 MiB. */
  readonly history?: HistoryBounds | undefined;
}

export interface EmbeddedHost {
  readonly url: string;
  readonly client: Client;
  readonly kubeconfig: string;
  /** A link that logs a browser in to the dashboard as the administrator, once and within ten minutes. */
  dashboardLink(): string;
  stop(): Promise<void>;
}

const SERVICE_ADDRESS = '10.96.0.1';
/** Requests wait while the components of this process read a page. */
const PAGE_SIZE = 50;
/** Only what changed in the last minutes can be watched from; older watchers list again. */
const COMPACT_EVERY_MS = 60_000;
const KEEP_FLOW_CONTROL_MS = 60_000;
const KEEP_HISTORY_MS = 2 * 60_000;
/** A storm of evictions shall cost a budget few writes; nobody decides on what is written late. */
const DEBOUNCE_MS = 50;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedHost> {
  const { dataDirectory, log } = options;
  const clock = options.clock ?? systemClock;
  const store = await openStore(dataDirectory, clock, log);
  try {
    return await startOnStore(options, store, clock);
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(dataDirectory: string | undefined, clock: Clock, log: Logger): Promise<Store> {
  const common = {
    now: () => clock.now(),
    onWatchError: (error: unknown) => log.error({ err: error }, 'a watcher failed'),
    onWritable(problem: string | undefined) {
      if (problem === undefined) log.warn({}, 'writes succeed again');
      else log.error({ dataDirectory, problem }, 'writes fail; reads go on');
    },
  };
  if (dataDirectory === undefined) return Promise.resolve(createMemoryStore(common));
  // Keys and certificates are made after the store.
  const companion = join(dataDirectory, 'pki');
  return openLmdbStore({ ...common, directory: join(dataDirectory, 'store'), companion });
}

async function startOnStore(options: EmbeddedOptions, store: Store, clock: Clock): Promise<EmbeddedHost> {
  const { dataDirectory, log, bind, gates = new FeatureGates(), compat } = options;
  const metrics = new Metrics('up');
  const answers = new AnswerQueue();
  const roomLink = new RoomLink();
  const pki = await openPki({
    ...(dataDirectory !== undefined && { directory: join(dataDirectory, 'pki') }),
    clock,
    hosts: [bind],
    serviceAddress: SERVICE_ADDRESS,
  });
  const plane = createPlane({
    store,
    clock,
    log,
    pki,
    controllers: options.apiOnly !== true,
    ownKinds: options.apiOnly !== true,
    gates,
    compat,
    metrics,
    answers,
    flowControl: true,
    roomLink,
    health: [{ name: 'certificate', readinessOnly: true, check: () => pki.problem() }],
  });
  const transportFor = (user: UserInfo = systemAdmin) => inProcessTransport(plane.handle, user);
  const client = createClient({ transport: transportFor(), userAgent: 'quorate' });
  await bootstrapObjects(client);
  await bootstrapRoles(client);
  await bootstrapFlowControl(client);
  const authorities = {
    authority: pki.authority.certificate,
    frontProxy: pki.frontProxyAuthority.certificate,
    frontProxyName: FRONT_PROXY,
  };
  await publishAuthentication(client, authorities, new Date(clock.now()));
  const apiServices = plane.aggregator && keepApiServices(client, plane.aggregator, plane.context);
  await apiServices?.look();
  const { dashboard, listening, url } = await openDoors(options, { api: plane.handle, client, clock, pki });
  writeKubeconfig(options.kubeconfig, {
    server: url,
    authority: pki.authority.certificate,
    user: { name: 'admin', certificate: pki.admin.certificate, key: pki.admin.key },
  });
  const components = startComponents(options, { transportFor, clock, metrics, gates, pki, answers, roomLink });
  const certificate = pki.keepServerFresh(
    (pair) => listening.renew(tlsOf(pki, pair)),
    (error) => log.error({ err: error }, 'cannot renew the serving certificate'),
  );
  const clockWatch = watchForJumps({ client, clock, log, metrics, jumped: () => void certificate.look() });
  const stopCompacting = compactEveryMinute(store, clock);
  const stopKeepingFlows = keepFlowControl(client, clock, log);
  return {
    url,
    client,
    kubeconfig: options.kubeconfig,
    dashboardLink: () => `${url}${dashboard.loginPath()}`,
    stop: () =>
      stopAll({
        components,
        plane,
        listening,
        store,
        cancels: [
          () => certificate.stop(),
          () => clockWatch.stop(),
          stopCompacting,
          stopKeepingFlows,
          () => dashboard.close(),
        ],
      }),
  };
}

interface Served {
  readonly api: ApiHandler;
  readonly client: Client;
  readonly clock: Clock;
  readonly pki: Pki;
}

/** Listens for the API and the dashboard, and tells the cluster where. */
async function openDoors({ allowWrites, bind, log, port }: EmbeddedOptions, { api, client, clock, pki }: Served) {
  let url = '';
  const dashboard = createEmbeddedDashboard({
    api,
    client,
    url: () => url,
    names: [bind],
    writes: allowWrites,
    // Like the secret it follows from, it is kept with the data.
    key: createHash('sha256').update(`dashboard sessions ${pki.adminToken}`).digest(),
    clock,
    log,
  });
  const tls = tlsOf(pki, pki.server);
  const listening = await listen({ handle: dashboard.handle, port, address: bind, tls, log });
  const host = reachable(listening.address);
  url = `https://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
  await publishServer(client, { serviceAddress: SERVICE_ADDRESS, address: host, port: listening.port });
  return { dashboard, listening, url };
}

function startComponents(
  options: EmbeddedOptions,
  parts: Parts & { transportFor: (user: UserInfo) => Transport; clock: Clock; metrics: Metrics },
): Components {
  const { clock, metrics, transportFor } = parts;
  return runComponents(
    {
      transportFor: (component) => transportFor(componentUser(component)),
      clock,
      log: options.log,
      metrics,
      pageSize: PAGE_SIZE,
      optional: mayBeReplaced,
    },
    options.apiOnly === true ? [] : controllersOf(options, parts),
  );
}

interface Parts {
  readonly answers: AnswerQueue;
  readonly gates: FeatureGates;
  readonly pki: Pki;
  readonly roomLink: RoomLink;
}

function controllersOf(options: EmbeddedOptions, { answers, gates, pki, roomLink }: Parts): Controller[] {
  const { compat, history: bounds, nodes, pickers, rules, settlingMs } = options;
  const authority = pki.authority.certificate;
  return [
    ...embeddedComponents({
      authority,
      issueToken: legacyTokenIssuer(pki.serviceAccountKey),
      gates,
      pickers,
      compat,
      debounceMs: DEBOUNCE_MS,
      settlingMs,
      history: { answers, bounds },
      room: () => roomLink.room(),
    }),
    createSimulatedNodes({ count: nodes, rules }),
  ];
}

async function stopAll(parts: {
  components: { stop(): void };
  plane: { close(): void };
  listening: Listening;
  store: Store;
  cancels: readonly (() => void)[];
}): Promise<void> {
  for (const cancel of parts.cancels) cancel();
  parts.components.stop();
  parts.plane.close();
  await parts.listening.close();
  await parts.store.close();
}

function tlsOf(pki: Pki, pair: { certificate: string; key: string }): TlsMaterial {
  return { certificate: pair.certificate, key: pair.key, authority: pki.authority.certificate };
}

/** An address clients can use: listening everywhere means loopback works. */
function reachable(address: string): string {
  return address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
}

/** Default FlowSchemas and priority levels that somebody took away come back. */
function keepFlowControl(client: Client, clock: Clock, log: Logger): () => void {
  let cancel = (): void => {};
  const tick = (): void => {
    bootstrapFlowControl(client).catch((error: unknown) => log.error({ err: error }, 'cannot keep FlowSchemas'));
    cancel = clock.after(KEEP_FLOW_CONTROL_MS, tick);
  };
  cancel = clock.after(KEEP_FLOW_CONTROL_MS, tick);
  return () => cancel();
}

function compactEveryMinute(store: Store, clock: Clock): () => void {
  const marks: { at: number; revision: number }[] = [];
  let cancel = (): void => {};
  const tick = (): void => {
    const now = clock.elapsed();
    marks.push({ at: now, revision: store.revision });
    while ((marks[0]?.at ?? now) <= now - KEEP_HISTORY_MS)
      store.compact((marks.shift() as { revision: number }).revision);
    cancel = clock.after(COMPACT_EVERY_MS, tick);
  };
  cancel = clock.after(COMPACT_EVERY_MS, tick);
  return () => cancel();
}
