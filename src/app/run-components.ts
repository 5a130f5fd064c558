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
  type Controller,
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
  readonly transforms?: ReadonlyMap<string, (object: KubeObject) => KubeObject>;
  /** Resources of which is kept who wrote what, by `plural.group`. */
  readonly withWriters?: ReadonlySet<string>;
  /** Kinds of software that may be removed while this runs. */
  readonly optional?: (type: ResourceType) => boolean;
  /** Open a watch anew that has been silent for so long. */
  readonly stalledMs?: number;
  /** How much later to take in the events of a resource, by `plural.group`. */
  readonly gatherMs?: ReadonlyMap<string, number>;
  /** Ends the components, beside their own `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** How many objects to ask for at once. */
  readonly pageSize?: number;
}

/** What components run on: caches, clients, events. Controllers are started on it once what they need is there. */
export interface Components {
  readonly client: Client;
  readonly informers: InformerSet;
  /** Ends with the components. */
  readonly signal: AbortSignal;
  readonly eventsFor: (component: string) => EventRecorder;
  start(controllers: readonly Controller[]): void;
  /** Nothing queued and nothing being worked on. */
  isIdle(): boolean;
  stop(): void;
}

export function openComponents(host: ComponentHost): Components {
  const { clock, log, random = Math.random } = host;
  const abort = new AbortController();
  const signal = host.signal === undefined ? abort.signal : AbortSignal.any([host.signal, abort.signal]);
  // Every queue and watch listens for the end.
  setMaxListeners(0, signal);
  const { gatherMs, optional, pageSize, transforms, stalledMs, withWriters } = host;
  const clientFor = (component: string): Client =>
    createClient({ transport: host.transportFor(component), userAgent: 'quorate', pageSize });
  const client = clientFor('quorate');
  const informers = new InformerSet({
    client,
    clock,
    log,
    signal,
    transforms,
    optional,
    stalledMs,
    gatherMs,
    withWriters,
  });
  const recorders = new Map<string, EventRecorder>();
  const eventsFor = (component: string): EventRecorder => {
    const known = recorders.get(component) ?? createEventRecorder({ client, clock, log, random, component });
    recorders.set(component, known);
    return known;
  };
  const context: ControllerContext = {
    client,
    clientFor,
    informers,
    clock,
    log,
    metrics: host.metrics ?? new Metrics(),
    eventsFor,
    random,
    leading: host.leading,
    signal,
  };
  const running: RunningController[] = [];
  return {
    client,
    informers,
    signal,
    eventsFor,
    start(controllers) {
      for (const controller of controllers) running.push(controller.start(context));
    },
    isIdle: () => running.every(({ queues }) => queues.every((queue) => queue.idle)),
    stop: () => abort.abort(new Error('The control plane is stopping')),
  };
}

export function runComponents(host: ComponentHost, controllers: readonly Controller[]): Components {
  const components = openComponents(host);
  components.start(controllers);
  return components;
}
