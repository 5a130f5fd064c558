/** A control plane in which EvictionRequests are carried out, on a clock moved by hand. */
import type { EvictionResponder, Pod } from '../../../src/api/generated/core-v1.ts';
import type { Eviction, EvictionRequest, ResponderStatus } from '../../../src/api/generated/lifecycle-v1alpha1.ts';
import type { Condition } from '../../../src/api/generated/meta-v1.ts';
import { evictionRequestType, evictionType } from '../../../src/api/lifecycle/index.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { garbageCollector } from '../../../src/controllers/kubernetes/garbage-collector/index.ts';
import { createEvictionRequestController } from '../../../src/controllers/quorate/eviction-request/controller.ts';
import { existing } from '../../../src/machinery/runtime/index.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, pod, startControlPlane } from '../../../src/testkit/index.ts';

export const namespace = 'default';
export const EVICTOR = 'imperative-eviction.k8s.io/evictor';

export class World {
  readonly plane: ControlPlane;

  private constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  /** With `nodes`, everything of `quorate up` runs; else only what is about requests, and pods go at once. */
  static async start(nodes = 0): Promise<World> {
    const few = [createEvictionRequestController(), garbageCollector];
    return new World(await startControlPlane({ nodes, controllers: nodes > 0 ? true : few }));
  }

  get client(): ControlPlane['client'] {
    return this.plane.client;
  }

  get now(): string {
    return formatTime(this.plane.clock.now());
  }

  async settle(): Promise<void> {
    await this.plane.settle();
  }

  async pass(seconds: number, step = 1): Promise<void> {
    for (let left = seconds; left > 0; left -= step) {
      await this.plane.clock.advance(Math.min(left, step) * 1000);
      await this.plane.settle();
    }
  }

  async until(what: () => Promise<boolean>, limit = 300): Promise<void> {
    for (let at = 0; at < limit; at += 1) {
      if (await what()) return;
      await this.pass(1);
    }
    throw new Error(`Not so after ${limit} s`);
  }

  async pod(
    name: string,
    responders: readonly EvictionResponder[] = [],
    more: Partial<Pod['metadata']> = {},
  ): Promise<Pod> {
    const made = pod({ name, ...(responders.length > 0 && { spec: { evictionResponders: [...responders] } }) });
    return this.client.create(podType, { ...made, metadata: { ...made.metadata, ...more } });
  }

  async hasPod(name: string): Promise<boolean> {
    return (await existing(this.client.get(podType, { namespace, name }))) !== undefined;
  }

  /** Asks for a pod to go; `uid` where it is not that of the pod. */
  async ask(
    name: string,
    of: Pod,
    { requester = 'example.com/drain', uid = of.metadata.uid ?? '' } = {},
  ): Promise<EvictionRequest> {
    const target = { pod: { name: of.metadata.name ?? '', uid } };
    const request = { metadata: { name, namespace }, spec: { target, requester, intent: 'Eviction' } };
    const made = await this.client.create(evictionRequestType, request);
    await this.settle();
    return made;
  }

  async intend(name: string, intent: 'Eviction' | 'Withdrawn'): Promise<void> {
    await this.client.patch(evictionRequestType, { namespace, name }, { type: 'merge', body: { spec: { intent } } });
    await this.settle();
  }

  request(name: string): Promise<EvictionRequest> {
    return this.client.get(evictionRequestType, { namespace, name });
  }

  eviction(name: string): Promise<Eviction> {
    return this.client.get(evictionType, { namespace, name });
  }

  async evictions(): Promise<string[]> {
    const { items } = await this.client.list(evictionType, { namespace });
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  }

  /** A responder says something of itself, as it would itself. */
  async report(eviction: string, name: string, news: Partial<ResponderStatus>): Promise<void> {
    const current = await this.eviction(eviction);
    const responders = (current.status?.responders ?? []).map((one) => (one.name === name ? { ...one, ...news } : one));
    await this.client.updateStatus(evictionType, { ...current, status: { ...current.status, responders } });
    await this.settle();
  }

  stop(): Promise<void> {
    return this.plane.stop();
  }
}

/** Conditions as `Type=Status/Reason`. */
export const told = ({ status }: { status?: { conditions?: Condition[] | undefined } | undefined }): string[] =>
  (status?.conditions ?? []).map(({ reason, status: is, type }) => `${type}=${is}/${reason}`).sort();

/** Whose turn it is, as `name state`, in the order of the list. */
export const turns = ({ status }: Eviction): string[] =>
  (status?.targetResponders ?? []).map(({ name, state }) => `${name.split('/')[1] ?? ''} ${state}`);

export const reportOf = ({ status }: Eviction, name: string): ResponderStatus | undefined =>
  status?.responders?.find((one) => one.name === name);
