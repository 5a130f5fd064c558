import { firstUntolerated } from '../../../api/core/toleration.ts';
import { matches } from '../../../machinery/values/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { SpreadFrame } from '../cluster/placed.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { matchesNodeChoice } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { SpreadRule } from '../cluster/pod-terms.ts';
import { type Rejection, rejection } from './rejection.ts';

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

const MAX_FRAMES = 64;

/** Which nodes count for each rule: those with every topology key of the rules, and as each rule's policies say. */
function framesFor(pod: PodFacts, rules: readonly SpreadRule[], cluster: Cluster): readonly SpreadFrame[] {
  const key = `${rules === pod.spread.hard ? 'hard' : 'soft'} ${pod.shape}`;
  const known = cluster.frames.get(key);
  if (known !== undefined) return known;
  const frames = rules.map(() => ({ nodes: new Set<NodeFacts>(), domains: new Set<string>() }));
  for (const node of cluster.nodes) {
    if (!rules.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)) continue;
    for (const [index, rule] of rules.entries()) {
      if (rule.honorNodeChoice && !matchesNodeChoice(pod.nodeChoice, node.labels, node.name)) continue;
      if (rule.honorTaints && firstUntolerated(node.taints, pod.tolerations, cluster.rules.taintComparison)) continue;
      frames[index]?.nodes.add(node);
      frames[index]?.domains.add(node.labels[rule.topologyKey] as string);
    }
  }
  if (cluster.frames.size >= MAX_FRAMES) cluster.frames.clear();
  const made = frames.map(({ domains, nodes }) => ({ nodes, domains: [...domains] }));
  cluster.frames.set(key, made);
  return made;
}

/** Counts pods per domain. */
export function countSpread(pod: PodFacts, rules: readonly SpreadRule[], cluster: Cluster): SpreadCounts[] {
  if (rules.length === 0) return [];
  const frames = framesFor(pod, rules, cluster);
  return rules.map((rule, index) => {
    const { domains = [], nodes } = frames[index] ?? {};
    const byDomain = new Map<string, number>();
    for (const domain of domains) byDomain.set(domain, 0);
    // As upstream has it, a selector without requirements counts no pod but the one that is asked about.
    const counted = rule.selector.requirements.length > 0;
    for (const { node, pod: other } of counted ? cluster.labels.candidates(pod.namespace, rule.selector) : []) {
      if (other.terminating || nodes?.has(node) !== true || !matches(rule.selector, other.labels)) continue;
      const domain = node.labels[rule.topologyKey] as string;
      byDomain.set(domain, (byDomain.get(domain) ?? 0) + 1);
    }
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
