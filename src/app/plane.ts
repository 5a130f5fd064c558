/** The API server with everything a control plane adds to it: access control, admission, subresources. */
import {
  addEviction,
  type ApiServer,
  type ApiServerOptions,
  builtinAdmission,
  builtinRows,
  createApiServer,
  createAuth,
  createCodec,
  createDisruptionView,
  createUnavailability,
  CustomResources,
  groupEvictionPlugin,
  inProcessTransport,
  type Kernel,
  leaderWorkerPods,
  metricsRoute,
  registerStorageMetrics,
  ownRows,
  type Pki,
  systemAdmin,
  type Unavailability,
} from '../apiserver/index.ts';
import {
  type Clock,
  createClient,
  createEventRecorder,
  FeatureGates,
  type Logger,
  Metrics,
} from '../machinery/runtime/index.ts';
import type { Store } from '../storage/index.ts';
import { unavailabilityGates } from '../decisions/unavailability/index.ts';
import { createRefusalRecorder } from './unavailability-refusals.ts';

export interface PlaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly newUid?: () => string;
  /** Without it every caller is who it says and may do everything. */
  readonly pki?: Pki;
  /** Pods are held to having a service account; needs the controller that makes them. */
  readonly serviceAccounts?: boolean;
  readonly gates?: FeatureGates;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  /** Served at `/metrics`. */
  readonly metrics?: Metrics;
  readonly extend?: (kernel: Kernel) => void;
}

export function createPlane(options: PlaneOptions): ApiServer {
  const { store, clock, log, pki, gates = new FeatureGates() } = options;
  let unavailability: Unavailability | undefined;
  let refused: ReturnType<typeof createRefusalRecorder> = () => {};
  let index: ReturnType<typeof createDisruptionView> | undefined;
  const newUid = options.newUid ?? (() => crypto.randomUUID());
  const server: ApiServerOptions = {
    store,
    rows: [...builtinRows(gates), ...ownRows({ compat: options.compat === 'kruise' })],
    clock,
    log,
    newUid,
    codec: createCodec(),
    admission(kernel) {
      unavailability = createUnavailability(kernel, {
        gates: unavailabilityGates(gates),
        compat: options.compat === 'kruise',
        // Told once the transaction it was refused in is over.
        refused: (refusal) => queueMicrotask(() => refused(refusal)),
      });
      const builtin = builtinAdmission(kernel, { serviceAccounts: options.serviceAccounts ?? false, gates });
      index = createDisruptionView(kernel);
      const groups = groupEvictionPlugin(unavailability.guarding, index);
      return [leaderWorkerPods(kernel.random), ...builtin, ...unavailability.plugins, groups];
    },
    routes: () => (options.metrics === undefined ? [] : [metricsRoute(options.metrics)]),
    ...(options.random && { random: options.random }),
    ...(pki && { access: (reads) => createAuth({ reads, pki, clock, newUid }) }),
  };
  const plane = createApiServer(server);
  addEviction(plane.kernel, {
    guards: unavailability === undefined ? [] : [unavailability.guard],
    ...(index !== undefined && { index }),
  });
  const client = createClient({ transport: inProcessTransport(plane.handle, systemAdmin), userAgent: 'pub-webhook' });
  const random = options.random ?? Math.random;
  const events = createEventRecorder({ client, clock, log, random, component: 'pub-webhook' });
  refused = createRefusalRecorder({ metrics: options.metrics ?? new Metrics(), events, log });
  if (options.metrics !== undefined) registerStorageMetrics(options.metrics, plane.kernel);
  const custom = new CustomResources(plane.kernel);
  options.extend?.(plane.kernel);
  return {
    ...plane,
    close() {
      custom.stop();
      plane.close();
    },
  };
}
