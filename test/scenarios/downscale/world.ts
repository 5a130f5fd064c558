/** A plane with the controllers of this folder, and the hands of kubelet and scheduler to move its pods by. */
import type { Deployment, ReplicaSet } from '../../../src/api/generated/apps-v1.ts';
import type { Event, Pod } from '../../../src/api/generated/core-v1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import { deploymentType, podType, replicaSetType } from '../../../src/api/resource-types.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { type Components, runComponents } from '../../../src/app/run-components.ts';
import { createDeploymentController } from '../../../src/controllers/kubernetes/deployment/index.ts';
import {
  createReplicaSetController,
  type ReplicaControllerOptions,
} from '../../../src/controllers/kubernetes/replicaset/index.ts';
import {
  type Client,
  type Logger,
  type ManualClock,
  Metrics,
  settle,
  silentLogger,
  type Controller,
  type Transport,
} from '../../../src/machinery/runtime/index.ts';
import { formatTime, seededRandom } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../../src/testkit/index.ts';

const eventType = builtinType('Event') as ResourceType<Event>;

export interface WorldOptions extends ReplicaControllerOptions {
  /** Stands between the controllers and the API server. */
  readonly intercept?: (inner: Transport) => Transport;
  readonly starts?: readonly Controller[];
  readonly log?: Logger;
  readonly extend?: ControlPlaneOptions['extend'];
}

export interface Bringing {
  /** Default `n1`. */
  readonly node?: string;
  readonly ready?: boolean;
  readonly phase?: string;
  /** Default now. */
  readonly readySince?: number;
  readonly restarts?: number;
}

export class World {
  readonly plane: ControlPlane;
  readonly components: Components;
  readonly metrics: Metrics;

  constructor(plane: ControlPlane, components: Components, metrics: Metrics) {
    this.plane = plane;
    this.components = components;
    this.metrics = metrics;
  }

  get client(): Client {
    return this.plane.client;
  }

  get clock(): ManualClock {
    return this.plane.clock;
  }

  /** Waits until the controllers have nothing to do at the present time. */
  async settle(): Promise<void> {
    await this.until(() => this.components.isIdle());
    await settle();
    await this.until(() => this.components.isIdle());
  }

  /** Waits for something that real sockets bring about; time stands still meanwhile. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let round = 0; round < 20_000; round += 1) {
      if (await holds()) return;
      await settle(1);
    }
    throw new Error('What was waited for did not happen');
  }

  /** Moves time and lets the controllers catch up. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  async pods(labels = ''): Promise<Pod[]> {
    const { items } = await this.client.list(podType, { namespace: 'default', labelSelector: labels });
    return items;
  }

  /** Names of the pods that are not on their way out. */
  async alive(labels = ''): Promise<string[]> {
    const pods = await this.pods(labels);
    return pods.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? '');
  }

  replicaSet(name: string): Promise<ReplicaSet> {
    return this.client.get(replicaSetType, { namespace: 'default', name });
  }

  deployment(name: string): Promise<Deployment> {
    return this.client.get(deploymentType, { namespace: 'default', name });
  }

  async replicaSets(): Promise<ReplicaSet[]> {
    return (await this.client.list(replicaSetType, { namespace: 'default' })).items;
  }

  /** `namespace/kind` scale through the subresource, as kubectl and autoscalers do it. */
  async scale(type: ResourceType, name: string, replicas: number): Promise<void> {
    const body = { spec: { replicas } };
    await this.client.patch(type, { namespace: 'default', name }, { type: 'merge', body }, { subresource: 'scale' });
    await this.settle();
  }

  /** Places a pod and reports it as a kubelet would. */
  async bring(name: string, bringing: Bringing = {}): Promise<void> {
    const { node = 'n1', phase = 'Running', ready = true, readySince = this.clock.now(), restarts = 0 } = bringing;
    const key = { namespace: 'default', name };
    const pod = await this.client.get(podType, key);
    if (!pod.spec?.nodeName && node !== '') {
      await this.client.createSubresource(podType, key, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: key,
        target: { kind: 'Node', name: node },
      });
    }
    const condition = {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      lastTransitionTime: formatTime(readySince),
    };
    const containerStatuses = [{ name: 'main', ready, restartCount: restarts, image: '', imageID: '' }];
    const startTime = pod.status?.startTime ?? formatTime(this.clock.now());
    const body = { status: { phase, startTime, conditions: [condition], containerStatuses } };
    await this.client.patch(podType, key, { type: 'strategic', body }, { subresource: 'status' });
  }

  /** Brings up every pod that is not, then lets the controllers react; repeats until all are. */
  async bringAll(bringing: Bringing = {}): Promise<void> {
    for (let round = 0; round < 50; round += 1) {
      const waiting = (await this.pods()).filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Pending',
      );
      if (waiting.length === 0) return;
      for (const { metadata } of waiting) await this.bring(metadata.name ?? '', bringing);
      await this.settle();
    }
    throw new Error('Pods keep appearing');
  }

  /** Ends the pods that are on their way out. */
  async reap(): Promise<void> {
    for (const { metadata } of await this.pods()) {
      if (!metadata.deletionTimestamp) continue;
      const key = { namespace: 'default', name: metadata.name ?? '' };
      await this.client.delete(podType, key, { gracePeriodSeconds: 0 });
    }
    await this.settle();
  }

  /** Reasons and messages of the events about an object. */
  async events(name: string): Promise<{ reason: string; message: string }[]> {
    await settle();
    const { items } = await this.client.list(eventType, { namespace: 'default' });
    return items
      .filter(({ involvedObject }) => involvedObject?.name === name)
      .map(({ message = '', reason = '' }) => ({ reason, message }));
  }

  async stop(): Promise<void> {
    this.components.stop();
    await this.plane.stop();
  }
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { extend, intercept = (inner) => inner, log = silentLogger, starts = [], ...controller } = options;
  const plane = await startControlPlane(extend === undefined ? {} : { extend });
  const transport = intercept(plane.transport);
  const metrics = new Metrics();
  const components = runComponents(
    { transportFor: () => transport, clock: plane.clock, log, random: seededRandom(7), metrics },
    [
      createReplicaSetController({ pickerAddresses: { allow: ['127.0.0.0/8'] }, ...controller }),
      createDeploymentController({ gates: controller.gates }),
      ...starts,
    ],
  );
  await components.informers.whenSynced();
  const world = new World(plane, components, metrics);
  await world.settle();
  return world;
}
