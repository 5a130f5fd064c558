import { matches } from '../../../machinery/values/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { matchesNodeChoice } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { SpreadRule } from '../cluster/pod-terms.ts';
import { type Rejection, rejection } from './rejection.ts';
import { firstUntolerated } from './tolerations.ts';

export interface SpreadCounts {
  readonly rule: SpreadRule;
  /** Matching pods by domain; a domain with none is present with zero. */
  readonly byDomain: ReadonlyMap<string, number>;
  /** The emptiest domain's count, or zero while there are fewer domains than asked for. */
  readonly least: number;
  readonly countsItself: boolean;
}

const TEXT = "node(s) didn't match pod topology spread constraints";
const UNEVEN = rejection('PodTopologySpread', TEXT, true);
const NO_LABEL = rejection('PodTopologySpread', `${TEXT} (missing required label)`, false);

/** Counts pods per domain over the nodes that carry every topology key of the rules. */
export function countSpread(pod: PodFacts, rules: readonly SpreadRule[], cluster: Cluster): SpreadCounts[] {
  if (rules.length === 0) return [];
  const counts = rules.map(() => new Map<string, number>());
  const counted = rules.map(() => new Set<NodeFacts>());
  for (const node of cluster.nodes) {
    if (!rules.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)) continue;
    for (const [index, rule] of rules.entries()) {
      if (rule.honorNodeChoice && !matchesNodeChoice(pod.nodeChoice, node.labels, node.name)) continue;
      if (rule.honorTaints && firstUntolerated(node.taints, pod.tolerations) !== undefined) continue;
      counted[index]?.add(node);
      const domain = node.labels[rule.topologyKey] as string;
      const known = counts[index];
      if (known?.has(domain) === false) known.set(domain, 0);
    }
  }
  for (const { node, pod: other } of cluster.inNamespace(pod.namespace)) {
    if (other.terminating) continue;
    for (const [index, rule] of rules.entries()) {
      if (counted[index]?.has(node) !== true || !matches(rule.selector, other.labels)) continue;
      const domain = node.labels[rule.topologyKey] as string;
      counts[index]?.set(domain, (counts[index]?.get(domain) ?? 0) + 1);
    }
  }
  return rules.map((rule, index) => {
    const byDomain = counts[index] ?? new Map<string, number>();
    const least = byDomain.size < rule.minDomains ? 0 : Math.min(...byDomain.values());
    return { rule, byDomain, least, countsItself: matches(rule.selector, pod.labels) };
  });
}

export function checkSpread(counts: readonly SpreadCounts[], node: NodeFacts): Rejection | undefined {
  for (const { byDomain, countsItself, least, rule } of counts) {
    const domain = node.labels[rule.topologyKey];
    if (domain === undefined) return NO_LABEL;
    const skew = (byDomain.get(domain) ?? 0) + (countsItself ? 1 : 0) - least;
    if (skew > rule.maxSkew) return UNEVEN;
  }
  return undefined;
}
