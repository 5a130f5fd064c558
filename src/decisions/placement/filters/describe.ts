import { type HostPort, UsedPorts } from '../cluster/host-ports.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm } from '../cluster/pod-terms.ts';
import type { Constraint } from './constraint.ts';
import { type AffinityState, podsInScope } from './pod-affinity.ts';
import type { SpreadCounts } from './topology-spread.ts';

/** What a filter that has refused says in detail: who holds the port, how uneven a spread would be. */
export function describePort(port: HostPort, node: NodeFacts): Constraint {
  let holder = '';
  for (const other of node.pods.values()) {
    const taken = new UsedPorts();
    for (const theirs of other.hostPorts) taken.add(theirs);
    if (taken.conflicts(port)) holder = `${other.namespace}/${other.name}`;
  }
  return { filter: 'NodePorts', ...port, holder };
}

export function describeSpread(counts: readonly SpreadCounts[], node: NodeFacts): Constraint | undefined {
  for (const { byDomain, countsItself, least, rule } of counts) {
    const { maxSkew, topologyKey: key } = rule;
    const domain = node.labels[key];
    if (domain === undefined) return { filter: 'PodTopologySpread', key, cause: 'MissingLabel', maxSkew };
    const skew = (byDomain.get(domain) ?? 0) + (countsItself ? 1 : 0) - least;
    if (skew > maxSkew) return { filter: 'PodTopologySpread', key, cause: 'Skew', skew, maxSkew };
  }
  return undefined;
}

export function describeAffinity(
  state: AffinityState,
  node: NodeFacts,
  { cluster, pod }: { cluster: Cluster; pod: PodFacts },
): Constraint | undefined {
  const { affinity, antiAffinity } = pod.podTerms;
  const near = (key: string): boolean => (state.wanted.get(key)?.get(node.labels[key] ?? '') ?? 0) > 0;
  const missing = affinity.find(({ topologyKey: key }) => node.labels[key] === undefined);
  const far = missing ?? (state.firstOfItsKind ? undefined : affinity.find(({ topologyKey }) => !near(topologyKey)));
  if (far !== undefined) return { filter: 'InterPodAffinity', cause: 'Affinity', key: far.topologyKey };
  const labelsOf = (namespace: string) => cluster.namespaceLabels.get(namespace);
  for (const term of antiAffinity) {
    const { topologyKey: key } = term;
    const value = node.labels[key];
    if (value === undefined) continue;
    for (const { node: at, pod: other } of podsInScope(term, cluster)) {
      if (at.labels[key] !== value || !matchesPodTerm(term, other, labelsOf(other.namespace))) continue;
      return { filter: 'InterPodAffinity', cause: 'AntiAffinity', key, holder: nameOf(other) };
    }
  }
  for (const { node: at, pod: other } of cluster.withAntiAffinity.values()) {
    for (const term of other.podTerms.antiAffinity) {
      const { topologyKey: key } = term;
      const value = at.labels[key];
      if (value === undefined || node.labels[key] !== value) continue;
      if (!matchesPodTerm(term, pod, labelsOf(pod.namespace))) continue;
      return { filter: 'InterPodAffinity', cause: 'ExistingAntiAffinity', key, holder: nameOf(other) };
    }
  }
  return undefined;
}

const nameOf = ({ name, namespace }: PodFacts): string => `${namespace}/${name}`;
