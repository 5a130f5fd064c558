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
  const { metadata, spec } = pod;
  const namespace = metadata.namespace ?? '';
  const labels = metadata.labels ?? {};
  const requests: Amount[] = [];
  for (const [name, amount] of sumRequests(pod)) if (amount > 0) requests.push({ slot: names.slot(name), amount });
  requests.sort((a, b) => a.slot - b.slot);
  const podTerms = compilePodAffinity(spec, namespace, labels);
  const spread = compileSpread(spec?.topologySpreadConstraints, labels);
  const hostPorts = hostPortsOf(pod);
  const claims = claimsOf(pod);
  let shape: string | undefined;
  return {
    pod,
    uid: metadata.uid ?? `${namespace}/${metadata.name ?? ''}`,
    namespace,
    name: metadata.name ?? '',
    labels,
    priority: spec?.priority ?? 0,
    mayPreempt: spec?.preemptionPolicy !== 'Never',
    terminating: metadata.deletionTimestamp != null,
    startedAt: parseTime(pod.status?.startTime ?? metadata.creationTimestamp) ?? 0,
    requests,
    assumed: sumAssumed(pod),
    hostPorts,
    claims,
    nodeChoice: compileNodeChoice(spec),
    preferredNodes: compilePreferredNodes(
      spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ),
    tolerations: spec?.tolerations ?? [],
    podTerms,
    spread,
    owner: metadata.ownerReferences?.find(({ controller }) => controller)?.uid,
    group,
    // Pods that have their place are many, and are never compared.
    get shape() {
      return (shape ??= shapeOf({ namespace, requests, hostPorts, claims, spec }));
    },
    looksAtPods:
      podTerms.affinity.length + podTerms.antiAffinity.length + podTerms.preferred.length > 0 ||
      spread.hard.length + spread.soft.length > 0,
  };
}

function shapeOf({
  namespace,
  requests,
  hostPorts,
  claims,
  spec,
}: Pick<PodFacts, 'namespace' | 'requests' | 'hostPorts' | 'claims'> & Pick<Pod, 'spec'>): string {
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
