import type { Pod, Toleration } from '../../../api/generated/core-v1.ts';
import { type Labels, parseTime } from '../../../machinery/values/index.ts';
import { claimsOf } from './claims.ts';
import { type HostPort, hostPortsOf } from './host-ports.ts';
import { compileNodeChoice, compilePreferredNodes, type NodeChoice, type WeightedNodeTerm } from './node-selection.ts';
import { compilePodAffinity, compileSpread, type PodAffinityTerms, type SpreadRules } from './pod-terms.ts';
import { type Amount, type ResourceNames, sumAssumed, sumRequests } from './resources.ts';

/** Everything about a pod that placement asks for, worked out once. */
export interface PodFacts {
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
  readonly nodeChoice: NodeChoice | undefined;
  readonly preferredNodes: readonly WeightedNodeTerm[];
  readonly tolerations: readonly Toleration[];
  readonly podTerms: PodAffinityTerms;
  readonly spread: SpreadRules;
  /** UID of the controller; its replicas are spread. */
  readonly owner: string | undefined;
  /** The group the pod is placed with; see `groups/link.ts`. */
  readonly group: string | undefined;
  /** Two pods of one shape can always trade places, until pods around them matter. */
  readonly shape: string;
  /** Where it goes depends on where other pods are. */
  readonly looksAtPods: boolean;
}

export function podFacts(pod: Pod, names: ResourceNames, group?: string): PodFacts {
  return new ReadPod(pod, names, group);
}

const NO_REQUESTS: readonly Amount[] = [];
const NO_TOLERATIONS: readonly Toleration[] = [];
const NO_LABELS: Labels = {};

/** A class, because there is one for every pod of a cluster: a literal with a getter takes V8 two kilobytes each. */
class ReadPod implements PodFacts {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly mayPreempt: boolean;
  readonly terminating: boolean;
  readonly startedAt: number;
  readonly requests: readonly Amount[];
  readonly assumed: PodFacts['assumed'];
  readonly hostPorts: readonly HostPort[];
  readonly claims: readonly string[];
  readonly nodeChoice: NodeChoice | undefined;
  readonly preferredNodes: readonly WeightedNodeTerm[];
  readonly tolerations: readonly Toleration[];
  readonly podTerms: PodAffinityTerms;
  readonly spread: SpreadRules;
  readonly owner: string | undefined;
  readonly group: string | undefined;
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
    this.requests = requestsOf(pod, names);
    this.assumed = sumAssumed(pod);
    this.hostPorts = hostPortsOf(pod);
    this.claims = claimsOf(pod);
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

  // Pods that have their place are many, and are never compared.
  get shape(): string {
    return (this.#shape ??= shapeOf(this));
  }
}

function requestsOf(pod: Pod, names: ResourceNames): readonly Amount[] {
  const requests: Amount[] = [];
  for (const [name, amount] of sumRequests(pod)) if (amount > 0) requests.push({ slot: names.slot(name), amount });
  return requests.length === 0 ? NO_REQUESTS : requests.sort((a, b) => a.slot - b.slot);
}

function shapeOf({ namespace, requests, hostPorts, claims, pod: { spec } }: PodFacts): string {
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
  ]);
}
