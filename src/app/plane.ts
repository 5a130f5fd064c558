/** The API server with everything a control plane adds to it: access control, admission, subresources. */
import {
  addEviction,
  type AnswerTeller,
  type AdmissionPlugin,
  type ApiServer,
  type ApiServerOptions,
  builtinAdmission,
  builtinResources,
  createApiServer,
  createAuth,
  createCodec,
  createDisruptionView,
  createUnavailability,
  CustomResources,
  type EvictionGuard,
  asOneEvictor,
  groupEvictionPlugin,
  noticeAsker,
  disruptionPolicyPlugin,
  maintenancePlugin,
  inProcessTransport,
  type ServerContext,
  tellDeletes,
  leaderWorkerPods,
  metricsRoute,
  registerServerMetrics,
  registerStorageMetrics,
  ownResources,
  type Pki,
  systemAdmin,
  type TokenUse,
  type UnavailabilityOptions,
} from '../apiserver/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  createEventRecorder,
  FeatureGates,
  isNotFound,
  type Logger,
  Metrics,
} from '../machinery/runtime/index.ts';
import { secretType } from '../api/resource-types.ts';
import type { Store } from '../storage/index.ts';
import type { DisruptionIndex, RoomJudge } from '../decisions/disruption/index.ts';
import type { AnswerQueue } from '../decisions/history/index.ts';
import { type RefusedRequest, unavailabilityGates } from '../decisions/unavailability/index.ts';
import { createRefusalRecorder } from './unavailability-refusals.ts';

export interface PlaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly newUid?: () => string;
  /** Without it every caller is who it says and may do everything. */
  readonly pki?: Pki;
  /**
   * The controllers of Kubernetes run: pods are held to having a service account, which one of them makes, and volumes in
   * use are kept until another lets them go.
   */
  readonly controllers?: boolean;
  readonly gates?: FeatureGates;
  /** Without them only what is Kubernetes' own is served, for controllers that bring kinds of their own. Default true. */
  readonly ownKinds?: boolean | undefined;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  /** Hears what is answered to those who ask for pods to go. */
  readonly answers?: AnswerQueue | undefined;
  /** Learns who knows whether units find places. */
  readonly roomLink?: RoomLink | undefined;
  /** Served at `/metrics`. */
  readonly metrics?: Metrics;
  /** Further budgets that evictions are asked of, by the counts of pods and groups. */
  readonly guards?: ((index: DisruptionIndex) => readonly EvictionGuard[]) | undefined;
  readonly extend?: (context: ServerContext) => void;
  /** Requests from outside wait for their turn where more come than the server's thread can take. */
  readonly flowControl?: boolean;
  /** What `/readyz` looks at besides the store. */
  readonly health?: ApiServerOptions['health'];
}

/** Lets controllers ask whom evictions ask about room: both are made before they can know of each other. */
export class RoomLink {
  room: () => RoomJudge | undefined = () => undefined;
}

export function createPlane(options: PlaneOptions): ApiServer {
  const { store, clock, log, ownKinds = true, pki, gates = new FeatureGates(), random = Math.random } = options;
  const newUid = options.newUid ?? (() => crypto.randomUUID());
  const compat = options.compat === 'kruise';
  const refusals = new Refusals();
  let labelUse: (use: TokenUse) => void = () => {};
  const teller = options.answers && { answers: options.answers, clock };
  const server: ApiServerOptions = {
    store,
    resources: [...builtinResources(gates), ...(ownKinds ? ownResources({ compat }) : [])],
    clock,
    log,
    random,
    newUid,
    codec: createCodec(),
    admission: (context) => [
      ...(ownKinds ? [leaderWorkerPods(context), maintenancePlugin(context), disruptionPolicyPlugin] : []),
      ...builtinAdmission(context, { controllers: options.controllers ?? false, gates }),
      ...guardPods(
        context,
        { gates: unavailabilityGates(gates), compat, refused: (one) => refusals.tell(one) },
        { guards: options.guards, ownKinds, teller, roomLink: options.roomLink },
      ),
    ],
    ...(options.health && { health: options.health }),
    ...(options.flowControl && { flowControl: options.metrics === undefined ? {} : { metrics: options.metrics } }),
    routes: () => (options.metrics === undefined ? [] : [metricsRoute(options.metrics)]),
    ...(pki && {
      proxyIdentity: pki.frontProxy,
      access: (reads) => createAuth({ reads, pki, clock, newUid, used: (use) => labelUse(use) }),
    }),
  };
  const plane = createApiServer(server);
  const transport = inProcessTransport(plane.handle, systemAdmin);
  labelUse = tokenUseLabeller(createClient({ transport, userAgent: 'kube-apiserver' }), log);
  const client = createClient({ transport, userAgent: 'pub-webhook' });
  const events = createEventRecorder({ client, clock, log, random, component: 'pub-webhook' });
  refusals.listen(createRefusalRecorder({ metrics: options.metrics ?? new Metrics(), events, log }));
  if (options.metrics !== undefined) {
    registerStorageMetrics(options.metrics, plane.context);
    registerServerMetrics(options.metrics, plane.context.meters);
    registerAvailability(options.metrics, plane.aggregator);
  }
  const custom = new CustomResources(plane.context);
  options.extend?.(plane.context);
  return {
    ...plane,
    close() {
      custom.stop();
      plane.close();
    },
  };
}

function registerAvailability(metrics: Metrics, aggregator: ApiServer['aggregator']): void {
  metrics.countedGauge('aggregator_unavailable_apiservice', function* () {
    for (const { apiService } of aggregator?.servers() ?? []) {
      const found = apiService.status?.conditions?.find(({ type }) => type === 'Available');
      yield [{ name: apiService.metadata.name ?? '' }, found?.status === 'True' ? 0 : 1];
    }
  });
}

/** Everything that may refuse to let pods go, by one count of their budgets: serves evictions, answers the plugins. */
function guardPods(
  context: ServerContext,
  options: UnavailabilityOptions,
  {
    guards = () => [],
    ownKinds,
    roomLink,
    teller,
  }: Pick<PlaneOptions, 'guards' | 'roomLink'> & { ownKinds: boolean; teller: AnswerTeller | undefined },
): AdmissionPlugin[] {
  const index = createDisruptionView(context);
  if (roomLink !== undefined) roomLink.room = () => index.room;
  const unavailability = createUnavailability(context, { ...options, room: () => index.room });
  const { guard, guarding, plugins } = unavailability;
  const askNotice = noticeAsker({ guarding, index });
  const evictAsOne = asOneEvictor({ guarding, index }, askNotice);
  addEviction(context, { guards: [...guards(index), guard], index, askNotice, evictAsOne, teller });
  const judges = (namespace: string, name: string): boolean => guarding.view.of(namespace).judging(name).length > 0;
  return [
    ...(ownKinds ? [...plugins, groupEvictionPlugin(guarding, index, teller)] : []),
    ...(teller === undefined ? [] : [tellDeletes(teller, judges)]),
  ];
}

/** Writes into a Secret on which day its token was last used; that is nothing a request waits for. */
function tokenUseLabeller(client: Client, log: Logger): (use: TokenUse) => void {
  return ({ labels, name, namespace, uid }) => {
    const body = { metadata: { uid, labels } };
    client.patch(secretType, { namespace, name }, { type: 'merge', body }).catch((error: unknown) => {
      if (!isNotFound(error))
        log.warn({ err: error, secret: `${namespace}/${name}` }, 'cannot note the use of a token');
    });
  };
}

/** Refusals, told of once the transaction that they were made in is over. */
class Refusals {
  readonly #listeners: ((refused: RefusedRequest) => void)[] = [];

  listen(listener: (refused: RefusedRequest) => void): void {
    this.#listeners.push(listener);
  }

  tell(refused: RefusedRequest): void {
    queueMicrotask(() => this.#listeners.forEach((listener) => listener(refused)));
  }
}
