import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm, type PodTerm } from '../cluster/pod-terms.ts';
import { type Rejection, rejection } from './rejection.ts';

/** How many pods matter in each domain: topology key, then value. */
type DomainCounts = Map<string, Map<string, number>>;

function count(counts: DomainCounts, key: string, value: string): void {
  const values = counts.get(key) ?? new Map<string, number>();
  values.set(value, (values.get(value) ?? 0) + 1);
  counts.set(key, values);
}

const has = (counts: DomainCounts, key: string, value: string | undefined): boolean =>
  value !== undefined && (counts.get(key)?.get(value) ?? 0) > 0;

export interface AffinityState {
  readonly pod: PodFacts;
  /** Domains where a pod already placed refuses this one. */
  readonly refusedBy: DomainCounts;
  readonly wanted: DomainCounts;
  readonly unwanted: DomainCounts;
  /** Nothing to be near exists yet, but the pod is what it wants to be near: the first of its kind may go anywhere. */
  readonly firstOfItsKind: boolean;
  /** What the pod wants to be near is not asked: it may come later. */
  readonly ignoresNear?: boolean | undefined;
}

const NOT_NEAR = rejection('InterPodAffinity', "node(s) didn't match pod affinity rules", false);
const TOO_NEAR = rejection('InterPodAffinity', "node(s) didn't match pod anti-affinity rules", true);
const REFUSED = rejection('InterPodAffinity', "node(s) didn't satisfy existing pods anti-affinity rules", true);

/** Looks at the pods of the cluster once; undefined when no rule about other pods is in play. */
export function prepareAffinity(pod: PodFacts, cluster: Cluster): AffinityState | undefined {
  const { affinity, antiAffinity } = pod.podTerms;
  if (affinity.length === 0 && antiAffinity.length === 0 && cluster.withAntiAffinity.size === 0) return undefined;
  const refusedBy: DomainCounts = new Map();
  const wanted: DomainCounts = new Map();
  const unwanted: DomainCounts = new Map();
  const labelsOf = (namespace: string) => cluster.namespaceLabels.get(namespace);
  for (const { placed, term } of cluster.antiTerms()) {
    if (!matchesPodTerm(term, pod, labelsOf(pod.namespace))) continue;
    for (const { node } of placed.values()) {
      const value = node.labels[term.topologyKey];
      if (value !== undefined) count(refusedBy, term.topologyKey, value);
    }
  }
  const matchesAll = (terms: readonly PodTerm[], other: PodFacts): boolean =>
    terms.every((term) => matchesPodTerm(term, other, labelsOf(other.namespace)));
  const [first] = affinity;
  if (first !== undefined) {
    // A pod counts only if it meets every term, so those the first one finds are enough.
    for (const { node, pod: other } of podsInScope(first, cluster)) {
      if (!matchesAll(affinity, other)) continue;
      for (const { topologyKey } of affinity) {
        const value = node.labels[topologyKey];
        if (value !== undefined) count(wanted, topologyKey, value);
      }
    }
  }
  for (const term of antiAffinity) {
    for (const { node, pod: other } of podsInScope(term, cluster)) {
      const value = node.labels[term.topologyKey];
      if (value !== undefined && matchesPodTerm(term, other, labelsOf(other.namespace))) {
        count(unwanted, term.topologyKey, value);
      }
    }
  }
  return { pod, refusedBy, wanted, unwanted, firstOfItsKind: wanted.size === 0 && matchesAll(affinity, pod) };
}

/** Pods among which are all that the term means; the caller still has to match. */
export function* podsInScope({ namespaceSelector, namespaces, selector }: PodTerm, cluster: Cluster) {
  const scope = namespaceSelector.matchesNothing === true ? namespaces : cluster.labels.namespaces();
  for (const namespace of scope) yield* cluster.labels.candidates(namespace, selector);
}

export function checkAffinity(state: AffinityState, node: NodeFacts): Rejection | undefined {
  const { affinity, antiAffinity } = state.pod.podTerms;
  if (affinity.length > 0 && state.ignoresNear !== true) {
    let near = true;
    for (const { topologyKey } of affinity) {
      const value = node.labels[topologyKey];
      if (value === undefined) return NOT_NEAR;
      near &&= has(state.wanted, topologyKey, value);
    }
    if (!near && !state.firstOfItsKind) return NOT_NEAR;
  }
  for (const { topologyKey } of antiAffinity) {
    if (has(state.unwanted, topologyKey, node.labels[topologyKey])) return TOO_NEAR;
  }
  for (const [topologyKey, values] of state.refusedBy) {
    const value = node.labels[topologyKey];
    if (value !== undefined && values.has(value)) return REFUSED;
  }
  return undefined;
}
