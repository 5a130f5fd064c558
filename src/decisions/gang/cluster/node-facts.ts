import type { Node, Taint } from '../../../api/generated/core-v1.ts';
import type { Labels } from '../../../machinery/values/index.ts';
import { UsedPorts } from './host-ports.ts';
import type { PodFacts } from './pod-facts.ts';
import { parseAmount, type ResourceNames } from './resources.ts';

export const ZONE = 'topology.kubernetes.io/zone';

const increment = (counts: Map<string, number>, key: string, by: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
};

/** One node: what it has, and what the pods on it take. Sums are kept, never recounted. */
export class NodeFacts {
  readonly name: string;
  /** Undefined while pods name a node nobody has seen yet. */
  node: Node | undefined;
  labels: Labels = {};
  zone: string | undefined;
  /** Taints that keep pods away. */
  taints: readonly Taint[] = [];
  /** Taints that only advise against. */
  softTaints: readonly Taint[] = [];
  unschedulable = false;
  /** By resource slot. */
  allocatable: number[] = [];
  allowedPods = 0;
  readonly requested: number[] = [];
  assumedCpu = 0;
  assumedMemory = 0;
  readonly pods = new Map<string, PodFacts>();
  readonly ports = new UsedPorts();
  /** Pods per controller and per group. */
  readonly owners = new Map<string, number>();
  readonly groups = new Map<string, number>();
  /** Pods that were promised room here when their victims are gone. */
  readonly nominated = new Map<string, PodFacts>();

  constructor(name: string) {
    this.name = name;
  }

  describe(node: Node, names: ResourceNames): void {
    this.node = node;
    this.labels = node.metadata.labels ?? {};
    this.zone = this.labels[ZONE];
    const taints = node.spec?.taints ?? [];
    this.taints = taints.filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute');
    this.softTaints = taints.filter(({ effect }) => effect === 'PreferNoSchedule');
    this.unschedulable = node.spec?.unschedulable === true;
    this.allocatable = [];
    this.allowedPods = 0;
    for (const [name, quantity] of Object.entries(node.status?.allocatable ?? {})) {
      if (name === 'pods') this.allowedPods = parseAmount(name, quantity);
      else this.allocatable[names.slot(name)] = parseAmount(name, quantity);
    }
  }

  add(pod: PodFacts): void {
    this.pods.set(pod.uid, pod);
    this.#count(pod, 1);
    for (const port of pod.hostPorts) this.ports.add(port);
  }

  remove(pod: PodFacts): void {
    if (!this.pods.delete(pod.uid)) return;
    this.#count(pod, -1);
    for (const port of pod.hostPorts) this.ports.remove(port);
  }

  #count(pod: PodFacts, sign: 1 | -1): void {
    for (const { slot, amount } of pod.requests) this.requested[slot] = (this.requested[slot] ?? 0) + sign * amount;
    this.assumedCpu += sign * pod.assumed.cpu;
    this.assumedMemory += sign * pod.assumed.memory;
    if (pod.owner !== undefined) increment(this.owners, pod.owner, sign);
    if (pod.group !== undefined) increment(this.groups, pod.group, sign);
  }
}
