/** A plane with a scheduler and nodes without kubelets: pods are bound and then stay as they are. */
import type { Event, Node, Pod, PodSpec } from '../../../src/api/generated/core-v1.ts';
import type { PodGroup, PodGroupSpec } from '../../../src/api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts';
import { eventType, nodeType, podType } from '../../../src/api/resource-types.ts';
import type { FeatureGates, Controller } from '../../../src/machinery/runtime/index.ts';
import { createScheduler } from '../../../src/scheduler/index.ts';
import { RoomLink } from '../../../src/app/plane.ts';
import { type ControlPlane, node, pod, startControlPlane } from '../../../src/testkit/index.ts';

export const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
export const workloadType = (version: string): ResourceType => builtinType('Workload', 'scheduling.k8s.io', version);

export interface StageOptions {
  /** CPUs of each node. */
  readonly nodes?: readonly number[];
  readonly labels?: readonly Record<string, string>[];
  readonly also?: readonly Controller[];
  readonly gates?: FeatureGates;
  /** Learns who tells evictions whether units find places. */
  readonly roomLink?: RoomLink;
}

export interface MemberOptions {
  readonly cpu?: number | string;
  readonly group?: string;
  readonly spec?: Partial<PodSpec>;
  readonly labels?: Record<string, string>;
}

export class Stage {
  readonly plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  get client() {
    return this.plane.client;
  }

  async addNode(name: string, cpu: number, labels: Record<string, string> = {}): Promise<Node> {
    const capacity = { cpu: String(cpu), memory: '64Gi', pods: '110' };
    const made = node({ name, capacity, labels: { 'kubernetes.io/hostname': name, ...labels } });
    await this.client.create(nodeType, made);
    // New nodes are tainted until the node life cycle controller, absent here, has seen them ready.
    return this.client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints: null } } });
  }

  addPod(name: string, { cpu = 1, group, labels, spec }: MemberOptions = {}): Promise<Pod> {
    const containers = [{ name: 'main', image: 'main', resources: { requests: { cpu: String(cpu) } } }];
    return this.client.create(
      podType,
      pod({
        name,
        ...(labels && { labels }),
        spec: { containers, ...(group && { schedulingGroup: { podGroupName: group } }), ...spec },
      }),
    );
  }

  async addMembers(group: string, count: number, options: MemberOptions = {}): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.addPod(`${group}-${index}`, { ...options, group });
  }

  addGang(name: string, minCount: number, over: Partial<PodGroupSpec> = {}): Promise<PodGroup> {
    return this.addGroup(name, { schedulingPolicy: { gang: { minCount } }, ...over });
  }

  addGroup(name: string, spec: PodGroupSpec): Promise<PodGroup> {
    return this.client.create(podGroupType, { metadata: { name, namespace: 'default' }, spec });
  }

  async remove(type: ResourceType<KubeObject>, name: string): Promise<void> {
    await this.client.delete(type, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
  }

  /** Names of bound pods, in order. */
  async bound(prefix = ''): Promise<string[]> {
    const { items } = await this.client.list(podType, { namespace: 'default' });
    return items
      .filter(({ metadata, spec }) => spec?.nodeName && metadata.name?.startsWith(prefix))
      .map(({ metadata }) => metadata.name ?? '')
      .sort();
  }

  pod(name: string): Promise<Pod> {
    return this.client.get(podType, { namespace: 'default', name });
  }

  async condition(group: string, type = 'PodGroupInitiallyScheduled') {
    const { status } = await this.client.get(podGroupType, { namespace: 'default', name: group });
    return status?.conditions?.find((condition) => condition.type === type);
  }

  async events(reason: string): Promise<Event[]> {
    const { items } = await this.client.list(eventType, { namespace: 'default' });
    return items.filter((event) => event.reason === reason);
  }

  /** Ends pods that are being deleted, as a kubelet would. */
  async endTerminating(): Promise<string[]> {
    const { items } = await this.client.list(podType, { namespace: 'default' });
    const ending = items
      .filter(({ metadata }) => metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name ?? '');
    for (const name of ending) await this.remove(podType, name);
    return ending.sort();
  }

  /** Lets everything that is due at the present time happen. */
  settle(): Promise<void> {
    return this.plane.settle();
  }

  async pass(seconds: number): Promise<void> {
    await this.plane.clock.advance(seconds * 1000);
    await this.plane.settle();
  }
}

/** Sets the stage, plays, and clears it whatever happened. */
export async function onStage(options: StageOptions, play: (stage: Stage) => Promise<void>): Promise<void> {
  const { also = [], gates, labels = [], nodes = [], roomLink } = options;
  const controllers: Controller[] = [createScheduler({ gates }), ...also];
  const plane = await startControlPlane({ controllers, ...(gates && { gates }), ...(roomLink && { roomLink }) });
  const stage = new Stage(plane);
  try {
    for (const [index, cpu] of nodes.entries()) await stage.addNode(`n${index}`, cpu, labels[index]);
    await stage.settle();
    await play(stage);
  } finally {
    await plane.stop();
  }
}
