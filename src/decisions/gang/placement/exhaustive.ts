import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { ask, checkNode } from '../../placement/filters/check-node.ts';
import { isWithin, type Within } from './find-node.ts';
import type { Trial } from './trial.ts';

export interface ExhaustiveOptions {
  /** How many of the pods must find a place. */
  readonly wanted: number;
  /** How many times a pod may be held against a node before the search gives up. */
  readonly budget: number;
  readonly within: Within;
}

const sizeOf = ({ requests }: PodFacts, cluster: Cluster): number => {
  const node = cluster.nodes[0];
  let size = 0;
  for (const { slot, amount } of requests) size = Math.max(size, amount / Math.max(node?.allocatable[slot] ?? 1, 1));
  return size;
};

/**
 * Looks for any way to place `wanted` of the pods, where one choice after another has failed. Biggest pods first;
 * pods of one shape take nodes in order, so that their permutations are tried once. On success the trial holds the
 * placements; otherwise it is as it was. A search that runs out of budget answers no.
 */
export function placeExhaustively(pods: readonly PodFacts[], trial: Trial, options: ExhaustiveOptions): boolean {
  const { cluster } = trial;
  const { wanted, within } = options;
  const order = pods.toSorted((a, b) => sizeOf(b, cluster) - sizeOf(a, cluster) || (a.shape < b.shape ? -1 : 1));
  const nodes = cluster.nodes.filter((node) => isWithin(node, within));
  const start = trial.placements.length;
  let budget = options.budget;

  const tradesPlaces = (a: PodFacts, b: PodFacts | undefined): boolean =>
    b !== undefined && a.shape === b.shape && !a.looksAtPods && cluster.withAntiAffinity.size === 0;

  const descend = (at: number, from: number): boolean => {
    const done = trial.placements.length - start;
    if (done >= wanted) return true;
    const pod = order[at];
    if (pod === undefined || done + order.length - at < wanted) return false;
    const question = ask(pod, cluster);
    const first = tradesPlaces(pod, order[at - 1]) ? from : 0;
    for (let index = first; index < nodes.length; index += 1) {
      budget -= 1;
      if (budget < 0) return false;
      const node = nodes[index] as NodeFacts;
      if (checkNode(question, node) !== undefined) continue;
      const mark = trial.placements.length;
      trial.place(pod, node);
      if (descend(at + 1, index)) return true;
      trial.rollback(mark);
    }
    // Leave this pod out; those like it that follow fare no better.
    let next = at + 1;
    while (next < order.length && tradesPlaces(order[next] as PodFacts, pod)) next += 1;
    return descend(next, 0);
  };
  return descend(0, 0);
}
