import type { Taint } from '../../../api/generated/core-v1.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { matchesNodeChoice } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { type AffinityState, checkAffinity, prepareAffinity } from './pod-affinity.ts';
import { type Rejection, rejection } from './rejection.ts';
import { checkResources } from './resource-fit.ts';
import { firstUntolerated } from './tolerations.ts';
import { checkVolumes, type VolumeTerms } from './volumes.ts';
import { checkSpread, countSpread, type SpreadCounts } from './topology-spread.ts';

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const CORDONED = rejection('NodeUnschedulable', 'node(s) were unschedulable', false);
const TAINTED = rejection('TaintToleration', 'node(s) had untolerated taint(s)', false);
const NOT_CHOSEN = rejection('NodeAffinity', "node(s) didn't match Pod's node affinity/selector", false);
const PORT_TAKEN = rejection('NodePorts', "node(s) didn't have free ports for the requested pod ports", true);

/** What is worked out once per pod before its nodes are looked at. Stale as soon as a pod is placed or removed. */
export interface Question {
  readonly pod: PodFacts;
  readonly cluster: Cluster;
  readonly affinity: AffinityState | undefined;
  readonly spread: readonly SpreadCounts[];
  readonly toleratesCordon: boolean;
  readonly volumes: readonly VolumeTerms[];
}

export function ask(pod: PodFacts, cluster: Cluster): Question {
  return {
    pod,
    cluster,
    affinity: prepareAffinity(pod, cluster),
    spread: countSpread(pod, pod.spread.hard, cluster),
    toleratesCordon: firstUntolerated([UNSCHEDULABLE], pod.tolerations) === undefined,
    volumes: pod.claims.map((claim) => cluster.volumeTerms.get(`${pod.namespace}/${claim}`)),
  };
}

/**
 * Whether a node can take a pod. Filters run in the order Kubernetes' scheduler runs them and the first that refuses
 * names the reason, so that the two say the same of the same node.
 */
export function checkNode(question: Question, node: NodeFacts): Rejection | undefined {
  const { affinity, cluster, pod, spread, toleratesCordon, volumes } = question;
  if (node.unschedulable && !toleratesCordon) return CORDONED;
  if (node.taints.length > 0 && firstUntolerated(node.taints, pod.tolerations) !== undefined) return TAINTED;
  if (!matchesNodeChoice(pod.nodeChoice, node.labels, node.name)) return NOT_CHOSEN;
  for (const port of pod.hostPorts) if (node.ports.conflicts(port)) return PORT_TAKEN;
  const shortage = checkResources(pod, node, cluster.resources);
  if (shortage !== undefined) return shortage;
  const elsewhere = checkVolumes(volumes, node);
  if (elsewhere !== undefined) return elsewhere;
  return checkSpread(spread, node) ?? (affinity === undefined ? undefined : checkAffinity(affinity, node));
}
