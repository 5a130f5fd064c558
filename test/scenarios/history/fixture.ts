/** A control plane whose record of disruptions is looked at, on a clock moved by hand. */
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import {
  type DisruptionHistory,
  disruptionHistoryType,
  type HistoryEntry,
} from '../../../src/api/quorate/disruption-history.ts';
import { deploymentType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { ApiError, type ManualClock } from '../../../src/machinery/runtime/index.ts';
import type { Store } from '../../../src/storage/index.ts';
import { type ControlPlane, deployment, startControlPlane } from '../../../src/testkit/index.ts';
import { World } from '../maintenance/fixture.ts';

export const namespace = 'default';
/** A reader of the record stays behind what happens by one writing and one look. */
const WRITTEN_SECONDS = 3;

export class Recorded {
  readonly plane: ControlPlane;
  readonly #world: World | undefined;

  constructor(plane: ControlPlane, world?: World) {
    this.plane = plane;
    this.#world = world;
  }

  /** With gangs and Maintenances. */
  static async start(nodes: number): Promise<Recorded> {
    const world = await World.start({ nodes });
    return new Recorded(world.plane, world);
  }

  /** Goes on with what an earlier one left, as another process. */
  static async on(store: Store, { clock, nodes = 0, seed }: { clock: ManualClock; nodes?: number; seed: number }) {
    return new Recorded(await startControlPlane({ controllers: true, store, clock, nodes, seed }));
  }

  get client(): ControlPlane['client'] {
    return this.plane.client;
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('There is no world here');
    return this.#world;
  }

  async pass(seconds: number): Promise<void> {
    for (let at = 0; at < seconds; at += 1) {
      await this.plane.clock.advance(1000);
      await this.plane.settle();
    }
  }

  /** Pods of a Deployment, each on its own, all Ready. */
  async fleet(name: string, replicas: number, { stopDelay = '1s' } = {}): Promise<void> {
    const made = deployment({ name, replicas });
    const template = made.spec?.template;
    if (template === undefined) throw new Error('Cannot make pods: the Deployment has no template');
    const annotations = { 'nodes.quorate.dev/ready-delay': '2s', 'nodes.quorate.dev/stop-delay': stopDelay };
    template.metadata = { ...template.metadata, annotations };
    await this.client.create(deploymentType, made);
    for (let at = 0; at < 60 && (await this.ready(name)).length < replicas; at += 1) await this.pass(1);
  }

  async pods(prefix: string): Promise<Pod[]> {
    const { items } = await this.client.list(podType, { namespace });
    return items.filter(({ metadata }) => metadata.name?.startsWith(`${prefix}-`) === true);
  }

  async ready(prefix: string): Promise<Pod[]> {
    return (await this.pods(prefix)).filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True') === true,
    );
  }

  /** A pod of this name, or the first of those whose name begins so. */
  async one(prefix: string): Promise<Pod> {
    const [first] = await this.ready(prefix);
    if (first === undefined) throw new Error(`No pod of ${prefix} is Ready`);
    return first;
  }

  /** The code of the answer. */
  async evict(pod: Pod, user = 'ada'): Promise<number> {
    const { name = '' } = pod.metadata;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    try {
      await this.plane.clientFor(user).createSubresource(podType, { name, namespace }, 'eviction', body);
      return 201;
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  }

  async taint(node: string, key: string): Promise<void> {
    const body = { spec: { taints: [{ key, effect: 'NoExecute' }] } };
    await this.client.patch(nodeType, { name: node }, { type: 'merge', body });
  }

  histories(): Promise<DisruptionHistory[]> {
    return this.client.list(disruptionHistoryType, {}).then(({ items }) => items);
  }

  /** The record, the oldest first, once what was seen is written. */
  async entries(): Promise<HistoryEntry[]> {
    await this.pass(WRITTEN_SECONDS);
    const all = (await this.histories()).flatMap(({ spec }) => spec?.entries ?? []);
    return all.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  stop(): Promise<void> {
    return this.#world === undefined ? this.plane.stop() : this.#world.stop();
  }
}
