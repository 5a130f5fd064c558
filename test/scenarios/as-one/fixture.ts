/** Gangs whose members may only be disrupted together, of pods that stand where they are: no scheduler, no nodes. */
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../../src/api/generated/policy-v1.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { builtinType } from '../../../src/api/registry.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

export const namespace = 'default';
const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io');
const ALL = { all: {} };

export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly causes: readonly string[];
}

export class Stage {
  readonly plane: ControlPlane;

  private constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  static async start(): Promise<Stage> {
    return new Stage(await startControlPlane({ controllers: true }));
  }

  get client(): ControlPlane['client'] {
    return this.plane.client;
  }

  async group(name: string, spec: object = {}): Promise<void> {
    const full = { schedulingPolicy: { gang: { minCount: 4 } }, disruptionMode: ALL, ...spec };
    await this.client.create(podGroupType, { metadata: { name, namespace }, spec: full } as KubeObject);
  }

  /** A pod of a group, Ready on a node of its own unless said otherwise. */
  async pod(
    name: string,
    group: string,
    {
      labels = {},
      phase = 'Running',
      spec = {},
    }: { phase?: string; labels?: Record<string, string>; spec?: object } = {},
  ): Promise<void> {
    const made = await this.client.create(podType, {
      metadata: { name, namespace, labels: { group, app: 'train', ...labels } },
      spec: {
        nodeName: `node-${name}`,
        schedulerName: 'nobody',
        schedulingGroup: { podGroupName: group },
        containers: [{ name: 'c', image: 'app:1' }],
        ...spec,
      },
    });
    const conditions = phase === 'Running' ? [{ type: 'Ready', status: 'True' }] : [];
    await this.client.updateStatus(podType, { ...made, status: { phase, conditions } });
  }

  /** A gang of four that goes as one. */
  async gang(name: string, spec: object = {}): Promise<void> {
    await this.group(name, spec);
    for (let at = 0; at < 4; at += 1) await this.pod(`${name}-${at}`, name);
    await this.plane.settle();
  }

  async budget(
    name: string,
    spec: PodDisruptionBudget['spec'],
    annotations: Record<string, string> = {},
  ): Promise<void> {
    await this.client.create(podDisruptionBudgetType, {
      metadata: { name, namespace, annotations },
      spec: { selector: { matchLabels: { app: 'train' } }, ...spec },
    });
    await this.plane.settle();
  }

  /** Without its finalizer: nobody waits for its pods. */
  async dropGroup(name: string): Promise<void> {
    const key = { namespace, name };
    await this.client.delete(podGroupType, key);
    await this.client.patch(podGroupType, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  }

  budgetNow(name: string): Promise<PodDisruptionBudget> {
    return this.client.get(podDisruptionBudgetType, { namespace, name });
  }

  async evict(name: string, dryRun = false): Promise<Answer> {
    const deleteOptions = dryRun ? { dryRun: ['All'] } : {};
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
    try {
      await this.client.createSubresource(podType, { namespace, name }, 'eviction', body);
      return { code: 201, message: '', causes: [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { code: error.code, message: error.message, causes: error.causes.map(({ reason }) => reason ?? '') };
    }
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.list(podType, { namespace })).items;
  }

  /** Names of the pods that nobody has told to go. */
  async staying(): Promise<string[]> {
    const all = await this.pods();
    return all.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? '');
  }
}

export const namesOf = (group: string, numbers = [0, 1, 2, 3]): string[] => numbers.map((at) => `${group}-${at}`);
