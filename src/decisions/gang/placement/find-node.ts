import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { namedNodes } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { ask, checkNode } from '../filters/check-node.ts';
import { Diagnosis } from '../filters/diagnosis.ts';
import { rejection } from '../filters/rejection.ts';
import { pickBest } from '../scores/rank-nodes.ts';

export type Search =
  | { readonly node: NodeFacts; readonly diagnosis?: undefined }
  | { readonly node?: undefined; readonly diagnosis: Diagnosis };

/** Keeps a search inside one topology domain. */
export interface Domain {
  readonly key: string;
  readonly value: string;
}

const FEW_NODES = 100;
const LEAST_PERCENT = 5;
const OUTSIDE = rejection('TopologyDomain', "node(s) were outside the pod group's topology domain", false);

/** How many suitable nodes are enough to choose from: all of a small cluster, a falling share of a large one. */
export function enoughNodes(total: number): number {
  if (total < FEW_NODES) return total;
  const percent = Math.max(LEAST_PERCENT, 50 - Math.floor(total / 125));
  return Math.max(FEW_NODES, Math.floor((total * percent) / 100));
}

/**
 * The best node for one pod as the cluster stands.
 *
 *  1. the node promised to the pod by an earlier preemption, if it will do
 *  2. otherwise the best-scored of enough suitable nodes, looking first where members of its group are and then on
 *     from where the last search stopped
 */
export function findNode(pod: PodFacts, cluster: Cluster, domain?: Domain): Search {
  const question = ask(pod, cluster);
  const promised = cluster.node(cluster.nomination(pod.uid) ?? '');
  if (promised !== undefined && inDomain(promised, domain) && checkNode(question, promised) === undefined) {
    return { node: promised };
  }
  const diagnosis = new Diagnosis(cluster.nodes.length);
  const suitable: NodeFacts[] = [];
  const look = (node: NodeFacts): void => {
    const rejected = inDomain(node, domain) ? checkNode(question, node) : OUTSIDE;
    if (rejected === undefined) suitable.push(node);
    else diagnosis.add(node, rejected);
  };
  const named = namedNodes(pod.nodeChoice);
  if (named !== undefined) {
    for (const name of named) {
      const node = cluster.node(name);
      if (node !== undefined) look(node);
    }
    if (suitable.length === 0) for (const node of cluster.nodes) look(node);
  } else {
    lookAround(pod, cluster, { look, suitable });
  }
  if (suitable.length === 0) return { diagnosis };
  return { node: suitable.length === 1 ? (suitable[0] as NodeFacts) : pickBest(pod, cluster, suitable) };
}

function lookAround(
  pod: PodFacts,
  cluster: Cluster,
  { look, suitable }: { look: (node: NodeFacts) => void; suitable: readonly NodeFacts[] },
): void {
  const { nodes } = cluster;
  const near = new Set(pod.group === undefined ? [] : cluster.membersOf(pod.group).map(({ node }) => node));
  for (const node of near) if (node.node !== undefined) look(node);
  const enough = enoughNodes(nodes.length);
  const start = nodes.length === 0 ? 0 : cluster.searchFrom % nodes.length;
  let step = 0;
  for (; step < nodes.length && suitable.length < enough; step += 1) {
    const node = nodes[(start + step) % nodes.length] as NodeFacts;
    if (!near.has(node)) look(node);
  }
  if (suitable.length > 0) cluster.searchFrom = (start + step) % nodes.length;
}

const inDomain = (node: NodeFacts, domain: Domain | undefined): boolean =>
  domain === undefined || node.labels[domain.key] === domain.value;
