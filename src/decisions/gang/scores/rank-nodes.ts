import { tolerates } from '../../../api/core/toleration.ts';
import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import { sumPreferences } from '../../placement/cluster/node-selection.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { type NodeScore, scoreAffinity, scoreCloseness, scoreReplicas, scoreSoftSpread } from './neighbour-scores.ts';
import { scoreResources } from './resource-scores.ts';

/** Weights of Kubernetes' default profile; closeness is ours and outweighs an even load. */
const WEIGHT = {
  softTaints: 3,
  preferredNodes: 2,
  spread: 2,
  affinity: 2,
  leastAllocated: 1,
  balance: 1,
  closeness: 6,
};

/** Adds a raw score scaled to 0-100 over the candidates. */
function addScaled(totals: Float64Array, candidates: readonly NodeFacts[], score: NodeScore, weight: number): void {
  if (score === undefined) return;
  const raw = new Float64Array(candidates.length);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < raw.length; index += 1) {
    const value = score(candidates[index] as NodeFacts);
    raw[index] = value;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high === low) return;
  const scale = (weight * 100) / (high - low);
  for (let index = 0; index < raw.length; index += 1) {
    totals[index] = (totals[index] as number) + scale * ((raw[index] as number) - low);
  }
}

function preferredNodes(pod: PodFacts): NodeScore {
  const terms = pod.preferredNodes;
  return terms.length === 0 ? undefined : (node) => sumPreferences(terms, node.labels, node.name);
}

function softTaints(pod: PodFacts, candidates: readonly NodeFacts[]): NodeScore {
  if (candidates.every((node) => node.softTaints.length === 0)) return undefined;
  const tolerations = pod.tolerations.filter(({ effect }) => !effect || effect === 'PreferNoSchedule');
  const bothers = (node: NodeFacts): number =>
    node.softTaints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint))).length;
  return (node) => -bothers(node);
}

/** The best of the candidates, which must not be empty; the first of equals, so the caller decides ties by order. */
export function pickBest(pod: PodFacts, cluster: Cluster, candidates: readonly NodeFacts[]): NodeFacts {
  if (candidates.length === 1) return candidates[0] as NodeFacts;
  const totals = new Float64Array(candidates.length);
  for (let index = 0; index < totals.length; index += 1) {
    totals[index] = scoreResources(pod, candidates[index] as NodeFacts, WEIGHT);
  }
  addScaled(totals, candidates, softTaints(pod, candidates), WEIGHT.softTaints);
  addScaled(totals, candidates, preferredNodes(pod), WEIGHT.preferredNodes);
  addScaled(totals, candidates, scoreSoftSpread(pod, cluster), WEIGHT.spread);
  addScaled(totals, candidates, scoreReplicas(pod, cluster), WEIGHT.spread);
  addScaled(totals, candidates, scoreAffinity(pod, cluster), WEIGHT.affinity);
  addScaled(totals, candidates, scoreCloseness(pod, cluster), WEIGHT.closeness);
  let best = 0;
  for (let index = 1; index < totals.length; index += 1) {
    if ((totals[index] as number) > (totals[best] as number)) best = index;
  }
  return candidates[best] as NodeFacts;
}
