/** A whole Kubernetes API inside a test: no disk, no port unless asked for, time moved by hand. */
import {
  type ApiServer,
  bootstrapRoles,
  inProcessTransport,
  type ServerContext,
  systemAdmin,
  type UserInfo,
} from '../apiserver/index.ts';
import { bootstrapObjects } from '../app/bootstrap.ts';
import { componentUser } from '../app/component-user.ts';
import { embeddedComponents } from '../app/components.ts';
import { createPlane, RoomLink } from '../app/plane.ts';
import { type ComponentHost, type Components, runComponents } from '../app/run-components.ts';
import { mayBeReplaced } from '../app/yielding.ts';
import { AnswerQueue, type HistoryBounds } from '../decisions/history/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  type FeatureGates,
  type Logger,
  ManualClock,
  Metrics,
  settle,
  silentLogger,
  type Controller,
  type Transport,
} from '../machinery/runtime/index.ts';
import { freezeSharedObjects, seededRandom, seededUuids } from '../machinery/values/index.ts';
import { createSimulatedNodes } from '../nodes/index.ts';
import { createMemoryStore, type Store } from '../storage/index.ts';
import { type Faults, InjectedFaults } from './faults.ts';
import { openTestPki, serve } from './serve.ts';

export interface ControlPlaneOptions<C extends Clock = ManualClock> {
  /**
   * Also listens here on loopback, for kubectl and other real clients; 0 takes a free port. Access is then checked as
   * on a cluster. Default: no port, and every caller may do everything.
   */
  readonly port?: number | undefined;
  /** Simulated nodes. Default 0. */
  readonly nodes?: number;
  /** `true` starts every controller of `quorate up`; a list starts just those. Default none. */
  readonly controllers?: boolean | readonly Controller[];
  /** Default: a clock that stands still until the test moves it. */
  readonly clock?: C;
  readonly log?: Logger;
  /** Names and picks are drawn from this seed. Default 1. */
  readonly seed?: number;
  readonly gates?: FeatureGates;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise';
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number;
  readonly metrics?: Metrics;
  /** How much of the record of disruptions is kept. */
  readonly history?: { readonly bounds: HistoryBounds };
  /** Continues on what an earlier plane left; its owner closes it. Take another seed then. Default: an empty one. */
  readonly store?: Store;
  /** Learns who tells evictions whether units find places, for controllers in a list that ask the same. */
  readonly roomLink?: RoomLink;
  /** Registers more with the server before it is used, such as subresources. */
  readonly extend?: (context: ServerContext) => void;
}

export interface ControlPlane<C extends Clock = ManualClock> {
  /** Acts as the cluster administrator. */
  readonly client: Client;
  readonly transport: Transport;
  readonly clock: C;
  readonly server: ApiServer;
  readonly store: Store;
  /** Makes requests of everybody but `client` and `transport` go wrong. */
  readonly faults: Faults;
  /** A client acting as someone else. */
  clientFor(username: string, groups?: readonly string[]): Client;
  /** Waits until no controller has anything to do at the present time. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** A control plane with a port. */
export interface ServedControlPlane<C extends Clock = ManualClock> extends ControlPlane<C> {
  readonly url: string;
  /** File for `KUBECONFIG`, with the rights of the administrator; removed by `stop()`. */
  readonly kubeconfig: string;
}

/** Starts one. With a port it also has `url` and `kubeconfig`. */
export function startControlPlane<C extends Clock = ManualClock>(
  options: ControlPlaneOptions<C> & { readonly port: number },
): Promise<ServedControlPlane<C>>;
export function startControlPlane<C extends Clock = ManualClock>(
  options?: ControlPlaneOptions<C>,
): Promise<ControlPlane<C>>;
export async function startControlPlane<C extends Clock = ManualClock>(
  options: ControlPlaneOptions<C> = {},
): Promise<ControlPlane<C> | ServedControlPlane<C>> {
  const { nodes = 0, controllers = false, log = silentLogger, seed = 1 } = options;
  freezeSharedObjects();
  const clock = options.clock ?? (new ManualClock() as Clock as C);
  const random = seededRandom(seed);
  const metrics = options.metrics ?? new Metrics();
  const answers = new AnswerQueue();
  const roomLink = options.roomLink ?? new RoomLink();
  const store = options.store ?? createMemoryStore({ now: () => clock.now() });
  const pki = options.port === undefined ? undefined : await openTestPki();
  const server = createPlane({
    store,
    clock,
    log,
    random,
    // Delays of simulated nodes are drawn from uids: the same seed then gives the same history.
    newUid: seededUuids(seed),
    controllers: controllers === true,
    ...(options.gates && { gates: options.gates }),
    compat: options.compat,
    metrics,
    answers,
    roomLink,
    ...(pki && { pki }),
    ...(options.extend && { extend: options.extend }),
  });
  const faults = new InjectedFaults(clock);
  const guarded = faults.guard(server.handle);
  const transportFor = (user: UserInfo): Transport => inProcessTransport(guarded, user);
  const transport = inProcessTransport(server.handle, systemAdmin);
  const client = createClient({ transport, userAgent: 'testkit' });
  await bootstrapObjects(client);
  if (pki !== undefined) await bootstrapRoles(client);
  const served =
    pki === undefined ? undefined : await serve(faults.guardPort(server.handle), { pki, port: options.port ?? 0 });

  const { compat, gates, settlingMs } = options;
  const authority = pki?.authority.certificate ?? '';
  const history = { answers, ...options.history };
  const starts = [
    ...chooseControllers(controllers, { authority, gates, compat, settlingMs, history, room: () => roomLink.room() }),
  ];
  if (nodes > 0) starts.push(createSimulatedNodes({ count: nodes }));
  const transports = (component: string): Transport => transportFor(componentUser(component));
  const components = run(starts, { transportFor: transports, clock, log, metrics, random });
  await components?.informers.whenSynced();

  return {
    client,
    transport,
    clock,
    faults,
    server,
    store,
    ...(served && { url: served.url, kubeconfig: served.kubeconfig }),
    clientFor: (username, groups = ['system:authenticated']) =>
      createClient({ transport: transportFor({ username, groups }), userAgent: username }),
    async settle() {
      for (let round = 0; round < 200; round += 1) {
        await settle();
        if (components?.isIdle() ?? true) return;
      }
      throw new Error('The controllers did not come to rest');
    },
    async stop() {
      components?.stop();
      server.close();
      await served?.close();
      await settle();
      if (options.store === undefined) await store.close();
    },
  };
}

function run(controllers: readonly Controller[], host: ComponentHost): Components | undefined {
  return controllers.length === 0 ? undefined : runComponents({ ...host, optional: mayBeReplaced }, controllers);
}

function chooseControllers(
  wanted: boolean | readonly Controller[],
  options: Parameters<typeof embeddedComponents>[0],
): readonly Controller[] {
  if (wanted === true) return embeddedComponents(options);
  return wanted === false ? [] : wanted;
}
