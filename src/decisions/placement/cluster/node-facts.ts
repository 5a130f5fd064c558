import type { Node, Taint } from '../../../api/generated/core-v1.ts';
import type { Labels } from '../../../machinery/values/index.ts';
import { UsedPorts } from './host-ports.ts';
import type { PodFacts } from './pod-facts.ts';
import { type Amount, isNodeResource, parseAmount, type ResourceNames } from './resources.ts';

export const ZONE = 'topology.kubernetes.io/zone';

const increment = (counts: Map<string, number>, key: string, by: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
};

/** Room on a node that is kept for one unit. */
export interface Hold {
  readonly unit: string;
  readonly amounts: readonly Amount[];
  readonly pods: number;
}

/** What a cordoned node is, or soon will be, tainted with. */
export const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** One node: what it has, and what the pods on it take. Sums are kept, never recounted. */
export class NodeFacts {
  readonly name: string;
  /** A small number of its own within the cluster. */
  readonly id: number;
  /** Undefined while pods name a node nobody has seen yet. */
  node: Node | undefined;
  labels: Labels = {};
  zone: string | undefined;
  /** Taints that keep pods away. */
  taints: readonly Taint[] = [];
  /** Taints that only advise against. */
  softTaints: readonly Taint[] = [];
  unschedulable = false;
  /** Closed by a plan: keeps its pods and takes no others, as if it were cordoned. */
  closed = false;
  /** What a node that is not ready should be tainted with and is not. */
  unreadyTaint: Taint | undefined;
  /** Amounts that cannot be read; they count as none. */
  badAmounts: readonly string[] = [];
  /** Takes volumes only of drivers that say they run here (Kubernetes 1.37). */
  needsDriver = false;
  readonly #holds = new Map<string, Hold>();
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

  constructor(name: string, id: number) {
    this.name = name;
    this.id = id;
  }

  describe(node: Node, names: ResourceNames): void {
    this.node = node;
    this.labels = node.metadata.labels ?? {};
    this.zone = this.labels[ZONE];
    const taints = node.spec?.taints ?? [];
    this.taints = taints.filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute');
    this.softTaints = taints.filter(({ effect }) => effect === 'PreferNoSchedule');
    this.unschedulable = node.spec?.unschedulable === true || this.closed;
    if (this.closed && this.taints.every(({ key }) => key !== UNSCHEDULABLE.key)) {
      this.taints = [...this.taints, UNSCHEDULABLE];
    }
    this.unreadyTaint = unreadyTaint(node);
    this.allocatable = [];
    this.allowedPods = 0;
    const bad: string[] = [];
    const { allocatable, capacity } = node.status ?? {};
    for (const [name, quantity] of Object.entries(allocatable ?? capacity ?? {})) {
      if (name !== 'pods' && !isNodeResource(name)) continue;
      const amount = readAmount(name, quantity);
      if (amount === undefined) bad.push(name);
      else if (name === 'pods') this.allowedPods = amount;
      else this.allocatable[names.slot(name)] = amount;
    }
    this.badAmounts = bad;
  }

  /** Room that is kept for units. */
  get holds(): ReadonlyMap<string, Hold> {
    return this.#holds;
  }

  setHold(key: string, hold: Hold | undefined): void {
    if (hold === undefined) this.#holds.delete(key);
    else this.#holds.set(key, hold);
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

/** Undefined for what is negative or no amount. */
function readAmount(name: string, quantity: string): number | undefined {
  try {
    const amount = parseAmount(name, quantity);
    return amount >= 0 ? amount : undefined;
  } catch {
    return undefined;
  }
}

/**
 * kube-scheduler sees only taints, which the node lifecycle controller puts on nodes that are not ready. Until it has,
 * we judge the node as if it had.
 */
function unreadyTaint({ spec, status }: Node): Taint | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (ready === 'True') return undefined;
  const key = ready === 'Unknown' ? UNREACHABLE : NOT_READY;
  return spec?.taints?.some((taint) => taint.key === key) === true ? undefined : { key, effect: 'NoSchedule' };
}
