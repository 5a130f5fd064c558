import type { Pod, Toleration } from '../../../api/generated/core-v1.ts';
import { type Labels, parseTime } from '../../../machinery/values/index.ts';
import { claimsOf, type Disk, disksOf } from './claims.ts';
import { type HostPort, hostPortsOf } from './host-ports.ts';
import { compileNodeChoice, compilePreferredNodes, type NodeChoice, type WeightedNodeTerm } from './node-selection.ts';
import { compilePodAffinity, compileSpread, type PodAffinityTerms, type SpreadRules } from './pod-terms.ts';
import { type Amount, BadAmountError, type ResourceNames, sumAssumed, sumRequests, sumStanding } from './resources.ts';

/** Everything about a pod that placement asks for, worked out once. */
export type PodFacts = Pick<ReadPod, keyof ReadPod>;

export function podFacts(pod: Pod, names: ResourceNames, group?: string): PodFacts {
  return new ReadPod(pod, names, group);
}

const NO_REQUESTS: readonly Amount[] = [];
const NO_TOLERATIONS: readonly Toleration[] = [];
const NO_LABELS: Labels = {};

/** A class, because there is one for every pod of a cluster: a literal with a getter takes V8 two kilobytes each. */
class ReadPod {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly mayPreempt: boolean;
  readonly terminating: boolean;
  /** Milliseconds; when the pod started, else was created. */
  readonly startedAt: number;
  readonly requests: readonly Amount[];
  readonly assumed: { readonly cpu: number; readonly memory: number };
  readonly hostPorts: readonly HostPort[];
  /** Persistent volume claims it mounts. */
  readonly claims: readonly string[];
  readonly disks: readonly Disk[];
  /** How many ResourceClaims it names. */
  readonly deviceClaims: number;
  /** Why its requests cannot be read; it then counts as asking for nothing. */
  readonly badInput: string | undefined;
  readonly nodeChoice: NodeChoice | undefined;
  readonly preferredNodes: readonly WeightedNodeTerm[];
  readonly tolerations: readonly Toleration[];
  readonly podTerms: PodAffinityTerms;
  readonly spread: SpreadRules;
  /** UID of the controller; its replicas are spread. */
  readonly owner: string | undefined;
  /** The group the pod is placed with; see `groups/link.ts`. */
  readonly group: string | undefined;
  /** Where it goes depends on where other pods are. */
  readonly looksAtPods: boolean;
  #shape: string | undefined;

  constructor(pod: Pod, names: ResourceNames, group: string | undefined) {
    const { metadata, spec } = pod;
    this.pod = pod;
    this.namespace = metadata.namespace ?? '';
    this.name = metadata.name ?? '';
    this.uid = metadata.uid ?? `${this.namespace}/${this.name}`;
    this.labels = metadata.labels ?? NO_LABELS;
    this.priority = spec?.priority ?? 0;
    this.mayPreempt = spec?.preemptionPolicy !== 'Never';
    this.terminating = metadata.deletionTimestamp != null;
    this.startedAt = parseTime(pod.status?.startTime ?? metadata.creationTimestamp) ?? 0;
    const { badInput, requests } = requestsOf(pod, names);
    this.requests = requests;
    this.badInput = badInput;
    this.assumed = badInput === undefined ? sumAssumed(pod) : { cpu: 0, memory: 0 };
    this.hostPorts = hostPortsOf(pod);
    this.claims = claimsOf(pod);
    this.disks = disksOf(pod);
    this.deviceClaims = spec?.resourceClaims?.length ?? 0;
    this.nodeChoice = compileNodeChoice(spec);
    this.preferredNodes = compilePreferredNodes(
      spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    );
    this.tolerations = spec?.tolerations ?? NO_TOLERATIONS;
    this.podTerms = compilePodAffinity(spec, this.namespace, this.labels);
    this.spread = compileSpread(spec?.topologySpreadConstraints, this.labels);
    this.owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    this.group = group;
    const { affinity, antiAffinity, preferred } = this.podTerms;
    const { hard, soft } = this.spread;
    this.looksAtPods = affinity.length + antiAffinity.length + preferred.length + hard.length + soft.length > 0;
  }

  /** Two pods of one shape can always trade places, until pods around them matter. */
  // Made when asked for: pods that have their place are many, and are never compared.
  get shape(): string {
    return (this.#shape ??= shapeOf(this));
  }
}

/** A pod that stands on a node is read with its status: it may be in the middle of a resize. */
function requestsOf(pod: Pod, names: ResourceNames): { requests: readonly Amount[]; badInput: string | undefined } {
  const requests: Amount[] = [];
  try {
    const sums = pod.spec?.nodeName ? sumStanding(pod) : sumRequests(pod);
    for (const [name, amount] of sums) if (amount > 0) requests.push({ slot: names.slot(name), amount });
  } catch (error) {
    if (!(error instanceof BadAmountError)) throw error;
    return { requests: NO_REQUESTS, badInput: error.message };
  }
  if (requests.length === 0) return { requests: NO_REQUESTS, badInput: undefined };
  return { requests: requests.sort((a, b) => a.slot - b.slot), badInput: undefined };
}

function shapeOf({ namespace, requests, hostPorts, claims, disks, pod: { spec } }: PodFacts): string {
  return JSON.stringify([
    namespace,
    requests.map(({ slot, amount }) => [slot, amount]),
    hostPorts,
    spec?.nodeSelector,
    spec?.affinity,
    spec?.tolerations,
    spec?.topologySpreadConstraints,
    spec?.priority,
    claims,
    spec?.nodeName,
    spec?.schedulerName,
    disks,
    spec?.resourceClaims,
  ]);
}
