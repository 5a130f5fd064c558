import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { Placed } from '../../placement/cluster/placed.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { matchesPodTerm, type PodTerm } from '../../placement/cluster/pod-terms.ts';
import { podsInScope } from '../../placement/filters/pod-affinity.ts';
import { countSpread } from '../../placement/filters/topology-spread.ts';

/** A raw score per node; undefined when the rule has nothing to say about this pod. */
export type NodeScore = ((node: NodeFacts) => number) | undefined;

/** How much placed pods a term selects pull towards, or push away from, a pod that already stands there. */
const REQUIRED_PULL = 1;

/** Preferred pod (anti-)affinity, both ways: what the pod wants near it, and what wants the pod near. */
export function scoreAffinity(pod: PodFacts, cluster: Cluster): NodeScore {
  const { preferred } = pod.podTerms;
  if (preferred.length === 0 && cluster.withPodTerms.size === 0) return undefined;
  const weights = new Map<string, Map<string, number>>();
  const add = (term: PodTerm, { node }: Placed, weight: number): void => {
    const value = node.labels[term.topologyKey];
    if (value === undefined) return;
    const values = weights.get(term.topologyKey) ?? new Map<string, number>();
    values.set(value, (values.get(value) ?? 0) + weight);
    weights.set(term.topologyKey, values);
  };
  const labelsOf = (namespace: string) => cluster.namespaceLabels.get(namespace);
  for (const term of preferred) {
    for (const placed of podsInScope(term, cluster)) {
      if (matchesPodTerm(term, placed.pod, labelsOf(placed.pod.namespace))) add(term, placed, term.weight);
    }
  }
  for (const placed of cluster.withPodTerms.values()) {
    const { affinity, preferred: theirs } = placed.pod.podTerms;
    for (const term of affinity) {
      if (matchesPodTerm(term, pod, labelsOf(pod.namespace))) add(term, placed, REQUIRED_PULL);
    }
    for (const term of theirs) {
      if (matchesPodTerm(term, pod, labelsOf(pod.namespace))) add(term, placed, term.weight);
    }
  }
  if (weights.size === 0) return undefined;
  return (node) => {
    let sum = 0;
    for (const [key, values] of weights) sum += values.get(node.labels[key] ?? '') ?? 0;
    return sum;
  };
}

/** Soft topology spread: fewer matching pods in the node's domains score higher. */
export function scoreSoftSpread(pod: PodFacts, cluster: Cluster): NodeScore {
  // A node outside every domain counts as fuller than the fullest.
  const counts = countSpread(pod, pod.spread.soft, cluster).map(({ byDomain, rule: { maxSkew, topologyKey } }) => ({
    byDomain,
    topologyKey,
    scale: Math.log(byDomain.size + 2),
    outside: Math.max(0, ...byDomain.values()) + maxSkew,
  }));
  if (counts.length === 0) return undefined;
  return (node) => {
    let sum = 0;
    for (const { byDomain, outside, scale, topologyKey } of counts) {
      const domain = node.labels[topologyKey];
      sum -= scale * (domain === undefined ? outside : (byDomain.get(domain) ?? 0));
    }
    return sum;
  };
}

/** Keeps the replicas of one controller apart: by zone first, then by node. */
export function scoreReplicas(pod: PodFacts, cluster: Cluster): NodeScore {
  const { owner } = pod;
  if (owner === undefined || pod.group !== undefined || pod.spread.hard.length + pod.spread.soft.length > 0) {
    return undefined;
  }
  const zones = new Map<string, number>();
  let any = false;
  for (const node of cluster.nodes) {
    const count = node.owners.get(owner) ?? 0;
    if (count === 0) continue;
    any = true;
    if (node.zone !== undefined) zones.set(node.zone, (zones.get(node.zone) ?? 0) + count);
  }
  if (!any) return undefined;
  return (node) => -2 * (zones.get(node.zone ?? '') ?? 0) - (node.owners.get(owner) ?? 0);
}

/** Draws the members of a group together: the same node best, then the same zone. */
export function scoreCloseness(pod: PodFacts, cluster: Cluster): NodeScore {
  const { group } = pod;
  if (group === undefined) return undefined;
  const members = cluster.membersOf(group);
  if (members.length === 0) return undefined;
  const hosts = new Map<NodeFacts, number>();
  const zones = new Map<string, number>();
  for (const { node } of members) {
    hosts.set(node, (hosts.get(node) ?? 0) + 1);
    if (node.zone !== undefined) zones.set(node.zone, (zones.get(node.zone) ?? 0) + 1);
  }
  return (node) => (hosts.get(node) ?? 0) + (node.zone === undefined ? 0 : 2 * (zones.get(node.zone) ?? 0));
}
