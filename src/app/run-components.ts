/** Gives controllers, scheduler and nodes what they run on, over whichever transport the host has. */
import { setMaxListeners } from 'node:events';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import {
  type Client,
  type Clock,
  type ControllerContext,
  createClient,
  createEventRecorder,
  type EventRecorder,
  InformerSet,
  type Logger,
  Metrics,
  type RunningController,
  type StartController,
  type Transport,
} from '../machinery/runtime/index.ts';

export interface ComponentHost {
  /** The way to the API server for the named component, with its identity. */
  readonly transportFor: (component: string) => Transport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics;
  readonly random?: () => number;
  /** Resolves when this replica may write; absent: at once. */
  readonly leading?: Promise<void>;
  /** What to drop of objects before they are cached, by `plural.group`. */
  readonly projections?: ReadonlyMap<string, (object: KubeObject) => KubeObject>;
  /** Kinds of software that may be removed while this runs. */
  readonly optional?: (type: ResourceType) => boolean;
  /** Open a watch anew that has been silent for so long. */
  readonly stalledMs?: number;
  /** How much later to take in the events of a resource, by `plural.group`. */
  readonly gatherMs?: ReadonlyMap<string, number>;
  /** How many objects to ask for at once. */
  readonly pageSize?: number;
}

export interface RunningComponents {
  readonly client: Client;
  readonly informers: InformerSet;
  readonly controllers: readonly RunningController[];
  eventsFor(component: string): EventRecorder;
  /** Nothing queued and nothing being worked on. */
  isIdle(): boolean;
  stop(): void;
}

export function runComponents(host: ComponentHost, starts: readonly StartController[]): RunningComponents {
  const { clock, log, random = Math.random } = host;
  const abort = new AbortController();
  // Every queue and watch listens for the end.
  setMaxListeners(0, abort.signal);
  const { gatherMs, optional, pageSize, projections, stalledMs } = host;
  const clientFor = (component: string): Client =>
    createClient({ transport: host.transportFor(component), userAgent: 'quorate', pageSize });
  const client = clientFor('quorate');
  const informers = new InformerSet({
    client,
    clock,
    log,
    signal: abort.signal,
    projections,
    optional,
    stalledMs,
    gatherMs,
  });
  const recorders = new Map<string, EventRecorder>();
  const context: ControllerContext = {
    client,
    clientFor,
    informers,
    clock,
    log,
    metrics: host.metrics ?? new Metrics(),
    eventsFor(component) {
      const known = recorders.get(component) ?? createEventRecorder({ client, clock, log, random, component });
      recorders.set(component, known);
      return known;
    },
    random,
    leading: host.leading,
    signal: abort.signal,
  };
  const controllers = starts.map((start) => start(context));
  return {
    client,
    informers,
    controllers,
    eventsFor: (component) => context.eventsFor(component),
    isIdle: () => controllers.every(({ queues }) => queues.every((queue) => queue.idle)),
    stop: () => abort.abort(new Error('The control plane is stopping')),
  };
}
