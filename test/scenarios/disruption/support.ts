/** A control plane with evictions, and the words its scenarios are told in. */
import type { Condition, OwnerReference } from '../../../src/api/generated/meta-v1.ts';
import type { Event, Pod } from '../../../src/api/generated/core-v1.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../../src/api/generated/policy-v1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts';
import { eventType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { type FeatureGates, readBody, type Controller, type StatusBody } from '../../../src/machinery/runtime/index.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

export const workloadType = builtinType('Workload', 'scheduling.k8s.io', 'v1alpha1') as ResourceType<
  KubeObject & { spec: object }
>;

export interface PodOptions {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly owner?: OwnerReference;
  readonly node?: string;
  readonly finalizers?: string[];
  readonly spec?: Record<string, unknown>;
  readonly conditions?: NonNullable<Pod['status']>['conditions'];
}

export interface Answer {
  readonly code: number;
  readonly status: StatusBody;
  readonly retryAfter: string | undefined;
  /** The text Kubernetes prescribes. */
  readonly cause: string | undefined;
}

export class Stage {
  readonly plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  get now(): number {
    return this.plane.clock.now();
  }

  async pod(name: string, options: PodOptions = {}): Promise<Pod> {
    const { finalizers, labels = { app: 'a' }, node = 'node-1', owner, phase = 'Running', ready = true } = options;
    const created = await this.plane.client.create(podType, {
      metadata: {
        name,
        namespace: 'default',
        labels,
        ...(options.annotations && { annotations: options.annotations }),
        ...(finalizers && { finalizers }),
        ...(owner && { ownerReferences: [owner] }),
      },
      spec: { containers: [{ name: 'main', image: 'x' }], nodeName: node, ...options.spec } as NonNullable<Pod['spec']>,
    });
    const conditions = [
      { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: formatTime(this.now) },
      ...(options.conditions ?? []),
    ];
    return this.plane.client.updateStatus(podType, { ...created, status: { ...created.status, phase, conditions } });
  }

  async setReady(name: string, ready: boolean): Promise<void> {
    const pod = await this.getPod(name);
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: formatTime(this.now) }];
    await this.plane.client.updateStatus(podType, { ...pod, status: { ...pod.status, conditions } });
  }

  getPod(name: string): Promise<Pod> {
    return this.plane.client.get(podType, { namespace: 'default', name });
  }

  async podExists(name: string): Promise<boolean> {
    return (await this.names()).includes(name);
  }

  async names(): Promise<string[]> {
    const { items } = await this.plane.client.list(podType, { namespace: 'default' });
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  /** Removes a pod at once, as its kubelet would in the end. */
  async remove(name: string): Promise<void> {
    await this.plane.client.delete(podType, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
  }

  budget(
    spec: PodDisruptionBudgetSpec | Record<string, unknown>,
    more: { name?: string; annotations?: Record<string, string> } = {},
  ) {
    const { annotations, name = 'foo' } = more;
    return this.plane.client.create(podDisruptionBudgetType, {
      metadata: { name, namespace: 'default', ...(annotations && { annotations }) },
      spec: { selector: { matchLabels: { app: 'a' } }, ...spec } as PodDisruptionBudgetSpec,
    });
  }

  getBudget(name = 'foo'): Promise<PodDisruptionBudget> {
    return this.plane.client.get(podDisruptionBudgetType, { namespace: 'default', name });
  }

  /** Publishes numbers as A, C, D, E, in the place of the controller. */
  async publish(
    numbers: readonly [number, number, number, number],
    more: PodDisruptionBudgetStatus & { name?: string } = {},
  ) {
    const { name = 'foo', ...status } = more;
    const budget = await this.getBudget(name);
    const [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods] = numbers;
    return this.plane.client.updateStatus(podDisruptionBudgetType, {
      ...budget,
      status: {
        observedGeneration: budget.metadata.generation ?? 0,
        disruptionsAllowed,
        currentHealthy,
        desiredHealthy,
        expectedPods,
        ...status,
      },
    });
  }

  async numbers(name = 'foo'): Promise<[number, number, number, number]> {
    const { status = {} } = await this.getBudget(name);
    const { currentHealthy = -1, desiredHealthy = -1, disruptionsAllowed = -1, expectedPods = -1 } = status;
    return [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods];
  }

  async condition(type = 'DisruptionAllowed', name = 'foo'): Promise<Condition | undefined> {
    return (await this.getBudget(name)).status?.conditions?.find((condition) => condition.type === type);
  }

  async events(reason: string): Promise<Event[]> {
    const { items } = await this.plane.client.list(eventType, { namespace: 'default' });
    return items.filter((event) => event.reason === reason);
  }

  async evict(name: string, body: Record<string, unknown> = {}, query = ''): Promise<Answer> {
    return this.post(`/api/v1/namespaces/default/pods/${name}/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'default' },
      ...body,
    });
  }

  async post(path: string, body: unknown, method = 'POST'): Promise<Answer> {
    const response = await this.plane.transport({
      method,
      path,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const status = JSON.parse((await readBody(response.body)).toString('utf8')) as StatusBody;
    const cause = status.details?.causes?.find(({ reason }) => reason === 'DisruptionBudget')?.message;
    return { code: response.status, status, retryAfter: response.headers['retry-after'], cause };
  }

  settle(): Promise<void> {
    return this.plane.settle();
  }
}

/** Runs a scenario on a plane of its own. */
export function onPlane(
  scenario: (stage: Stage) => Promise<void>,
  { controller = false, gates }: { controller?: boolean | Controller; gates?: FeatureGates } = {},
): () => Promise<void> {
  return async () => {
    const start = controller === true ? createDisruptionController() : controller;
    const plane = await startControlPlane({
      controllers: start === false ? [] : [start],
      ...(gates && { gates }),
    });
    try {
      await plane.settle();
      await scenario(new Stage(plane));
    } finally {
      await plane.stop();
    }
  };
}

export const withController = (scenario: (stage: Stage) => Promise<void>) => onPlane(scenario, { controller: true });

/** The condition that an eviction leaves on a pod. */
export const target = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

/** Any pod event makes the controller look again. */
export async function nudge(stage: Stage, pod = 'p'): Promise<void> {
  const key = { namespace: 'default', name: pod };
  await stage.plane.client.patch(podType, key, {
    type: 'merge',
    body: { metadata: { annotations: { at: `${Math.random()}` } } },
  });
  await stage.settle();
}
