/** A whole control plane on a clock moved by hand, with gangs and a Maintenance over some of its nodes. */
import type { Deployment } from '../../../src/api/generated/apps-v1.ts';
import type { Node, Pod } from '../../../src/api/generated/core-v1.ts';
import type { PodGroup } from '../../../src/api/generated/scheduling-v1beta1.ts';
import { type Maintenance, type MaintenanceSpec, maintenanceType } from '../../../src/api/quorate/maintenance.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { ResourceType } from '../../../src/api/resource.ts';
import { deploymentType, nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import type { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, deployment, podDisruptionBudget, startControlPlane } from '../../../src/testkit/index.ts';

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
const namespace = 'default';

export class World {
  readonly plane: ControlPlane;
  /** Every phase a Maintenance was seen in, by name. */
  readonly phases = new Map<string, string[]>();
  /** How often a gang was seen whole and then not, and how many were down at once at most. */
  readonly outages = new Map<string, number>();
  mostDown = 0;
  readonly #end = new AbortController();
  readonly #gangs = new Map<string, { size: number; whole: boolean }>();

  private constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  static async start({ gates, nodes }: { nodes: number; gates?: FeatureGates }): Promise<World> {
    const world = new World(await startControlPlane({ nodes, controllers: true, ...(gates && { gates }) }));
    void world.#follow();
    await world.pass(2);
    return world;
  }

  async #follow(): Promise<void> {
    for await (const { object } of this.client.watch(maintenanceType, { signal: this.#end.signal })) {
      const { metadata, status } = object;
      const seen = this.phases.get(metadata.name ?? '') ?? [];
      if (status?.phase !== undefined && seen.at(-1) !== status.phase) seen.push(status.phase);
      this.phases.set(metadata.name ?? '', seen);
    }
  }

  get client(): ControlPlane['client'] {
    return this.plane.client;
  }

  /** Lets seconds pass, one at a time, and looks at everything after each. */
  async pass(seconds: number): Promise<void> {
    for (let at = 0; at < seconds; at += 1) {
      await this.plane.clock.advance(1000);
      await this.plane.settle();
      await this.#look();
    }
  }

  /** Lets time pass until something is so; fails after a limit of simulated seconds. */
  async until(what: () => Promise<boolean>, limit = 600): Promise<void> {
    for (let at = 0; at < limit; at += 1) {
      if (await what()) return;
      await this.pass(1);
    }
    throw new Error(`Not so after ${limit} s`);
  }

  /** Gangs of `size`, each a PodGroup with a Deployment, under one budget where `allowed` is given. */
  async gangs(
    count: number,
    {
      allowed,
      prefix = 'g',
      size = 2,
      spec = {},
    }: { size?: number; allowed?: number; prefix?: string; spec?: object } = {},
  ): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      await this.begin(`${prefix}${at}`, { size, fleet: prefix, spec });
      this.#gangs.set(`${prefix}${at}`, { size, whole: false });
    }
    if (allowed !== undefined) await this.budget(prefix, allowed);
    await this.until(async () => [...this.#gangs.values()].every(({ whole }) => whole));
    this.outages.clear();
    this.mostDown = 0;
  }

  /** Makes a gang and does not wait for it. */
  async begin(name: string, { fleet, size, spec = {} }: { size: number; fleet: string; spec?: object }): Promise<void> {
    const scheduling = { schedulingPolicy: { gang: { minCount: size } } };
    await this.client.create(podGroupType, { metadata: { name, namespace }, spec: scheduling });
    const made: Deployment = deployment({ name, replicas: size });
    const template = made.spec?.template;
    if (template?.spec === undefined) throw new Error('Cannot make a gang: the Deployment has no template');
    const annotations = { 'nodes.quorate.dev/ready-delay': '2s', 'nodes.quorate.dev/stop-delay': '1s' };
    template.metadata = { annotations, labels: { ...template.metadata?.labels, fleet } };
    Object.assign(template.spec, { schedulingGroup: { podGroupName: name }, terminationGracePeriodSeconds: 5 }, spec);
    await this.client.create(deploymentType, made);
  }

  async budget(prefix: string, maxUnavailable: number): Promise<void> {
    const spec = { maxUnavailable, selector: { matchLabels: { fleet: prefix } } };
    await this.client.create(podDisruptionBudgetType, podDisruptionBudget({ name: `budget-${prefix}`, spec }));
    await this.pass(2);
  }

  async maintain(name: string, spec: MaintenanceSpec): Promise<Maintenance> {
    return this.client.create(maintenanceType, { metadata: { name }, spec });
  }

  get(name: string): Promise<Maintenance> {
    return this.client.get(maintenanceType, { name });
  }

  async change(name: string, spec: Partial<MaintenanceSpec>): Promise<void> {
    await this.client.patch(maintenanceType, { name }, { type: 'merge', body: { spec } });
  }

  async ends(name: string, limit = 900): Promise<Maintenance> {
    await this.until(
      async () => ['Done', 'Failed', 'Cancelled'].includes((await this.get(name)).status?.phase ?? ''),
      limit,
    );
    return this.get(name);
  }

  async is(name: string, phase: string, limit = 600): Promise<Maintenance> {
    await this.until(async () => (await this.get(name)).status?.phase === phase, limit);
    return this.get(name);
  }

  node(name: string): Promise<Node> {
    return this.client.get(nodeType, { name });
  }

  async podsOn(node: string): Promise<Pod[]> {
    return (await this.client.list(podType, {})).items.filter(({ spec }) => spec?.nodeName === node);
  }

  async setCordon(name: string, unschedulable: boolean | null): Promise<void> {
    await this.client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable } } });
  }

  stop(): Promise<void> {
    this.#end.abort();
    return this.plane.stop();
  }

  async #look(): Promise<void> {
    const { items } = await this.client.list(podType, { namespace });
    let down = 0;
    for (const [name, gang] of this.#gangs) {
      const ready = items.filter(
        ({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined &&
          (spec as { schedulingGroup?: { podGroupName?: string } }).schedulingGroup?.podGroupName === name &&
          status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true,
      ).length;
      const whole = ready >= gang.size;
      if (gang.whole && !whole) this.outages.set(name, (this.outages.get(name) ?? 0) + 1);
      if (!whole) down += 1;
      gang.whole = whole;
    }
    this.mostDown = Math.max(this.mostDown, down);
  }
}

/** Conditions as `Type=Status/Reason`. */
export function told(of: Maintenance | Node): Record<string, string> {
  const conditions = (of.status?.conditions ?? []) as readonly { type: string; status: string; reason?: string }[];
  return Object.fromEntries(conditions.map(({ reason, status, type }) => [type, `${status} ${reason ?? ''}`]));
}
