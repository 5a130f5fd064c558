import type { Node } from '../api/generated/core-v1.ts';
import { type Client, type Informer, isAlreadyExists, isNotFound } from '../machinery/runtime/index.ts';
import { AddressPool } from './addresses.ts';
import { POWER, SIMULATED } from './annotations.ts';
import { nodeType } from '../api/resource-types.ts';
import {
  extendedResourcesPatch,
  healthyConditions,
  type NodeShape,
  registeredStatus,
  simulatedNode,
} from './node-object.ts';

export interface SimulatedNode {
  readonly name: string;
  readonly ip: string;
  readonly on: boolean;
}

export interface FleetOptions {
  readonly client: Client;
  readonly nodes: Informer<Node>;
  readonly now: () => number;
  readonly shapeOf: (name: string) => NodeShape;
  readonly fleetBlock: string;
}

/** The nodes that are ours: those annotated as simulated, whoever created them. */
export class NodeFleet {
  readonly #options: FleetOptions;
  readonly #pool: AddressPool;
  readonly #members = new Map<string, SimulatedNode>();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#pool = new AddressPool(options.fleetBlock);
  }

  get(name: string | undefined): SimulatedNode | undefined {
    return name === undefined ? undefined : this.#members.get(name);
  }

  get size(): number {
    return this.#members.size;
  }

  members(): IterableIterator<SimulatedNode> {
    return this.#members.values();
  }

  /** Creates a node unless it is there. */
  async create(name: string): Promise<void> {
    if (this.#options.nodes.get({ name }) !== undefined) return;
    try {
      await this.#options.client.create(nodeType, simulatedNode(name, this.#options.shapeOf(name)));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Takes note of a node; answers how its power changed, if it is ours. */
  learn(node: Node): 'on' | 'off' | undefined {
    const name = node.metadata.name ?? '';
    if (node.metadata.annotations?.[SIMULATED] !== 'true') {
      this.forget(name);
      return undefined;
    }
    const known = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    if (known !== undefined) this.#pool.claim(name, known);
    const member = { name, ip: this.#pool.take(name), on: node.metadata.annotations[POWER] !== 'off' };
    const before = this.#members.get(name);
    this.#members.set(name, member);
    if (before?.on === member.on) return undefined;
    return member.on ? 'on' : 'off';
  }

  forget(name: string): void {
    this.#members.delete(name);
    this.#pool.release(name);
  }

  /** Brings a node's status in line with a healthy kubelet's; writes only what differs. */
  async sync(name: string): Promise<void> {
    const { client, nodes, now, shapeOf } = this.#options;
    const node = nodes.get({ name });
    const member = this.#members.get(name);
    if (node === undefined || member === undefined || !member.on) return;
    const status = this.#statusPatch(node, member, now(), shapeOf(name));
    if (status === undefined) return;
    try {
      await client.patch(nodeType, { name }, { type: 'strategic', body: { status } }, { subresource: 'status' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Posts the heartbeat times of the conditions, as a kubelet does every few minutes when nothing changes. */
  async post(name: string): Promise<void> {
    const node = this.#options.nodes.get({ name });
    if (node === undefined) return;
    const conditions = healthyConditions(node, this.#options.now(), { force: true });
    await this.#options.client.patch(
      nodeType,
      { name },
      { type: 'strategic', body: { status: { conditions } } },
      { subresource: 'status' },
    );
  }

  #statusPatch(node: Node, { ip }: SimulatedNode, now: number, shape: NodeShape): object | undefined {
    if (node.status?.nodeInfo?.kubeletVersion === undefined || node.status.nodeInfo.kubeletVersion === '') {
      return registeredStatus(node, { shape, ip, now });
    }
    const conditions = healthyConditions(node, now);
    const allocatable = extendedResourcesPatch(node);
    if (conditions.length === 0 && allocatable === undefined) return undefined;
    return { ...(conditions.length > 0 && { conditions }), ...(allocatable && { allocatable }) };
  }
}
