import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import { namedNodes } from '../../placement/cluster/node-selection.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { ask, checkNode } from '../../placement/filters/check-node.ts';
import { Diagnosis } from '../../placement/filters/diagnosis.ts';
import { rejection } from '../../placement/filters/rejection.ts';
import { pickBest } from '../scores/rank-nodes.ts';

export type Search =
  | { readonly node: NodeFacts; readonly diagnosis?: undefined }
  | { readonly node?: undefined; readonly diagnosis: Diagnosis };

/** A value of a node label; a group that has one keeps to the nodes that have it. */
export interface TopologyDomain {
  readonly key: string;
  readonly value: string;
}

/** Of a group and of everything it is part of: only nodes in all of them will do. */
export type Within = readonly TopologyDomain[];

export const isWithin = ({ labels }: NodeFacts, within: Within): boolean =>
  within.every(({ key, value }) => labels[key] === value);

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
export function findNode(pod: PodFacts, cluster: Cluster, within: Within = []): Search {
  return new NodeSearch(cluster, within).find(pod);
}

/**
 * Searches for one pod after another while only this search fills the cluster, each answer before the next question.
 * A node that refused a pod then goes on refusing pods like it, and one that would do still does unless it was
 * answered, so for pods alike only the answers are looked at again.
 */
export class NodeSearch {
  readonly #cluster: Cluster;
  readonly #within: Within;
  #last: { readonly pod: PodFacts; suitable: NodeFacts[] } | undefined;
  /** Nodes answered since the suitable ones were looked at: they alone have less room than then. */
  readonly #filled = new Set<NodeFacts>();

  constructor(cluster: Cluster, within: Within = []) {
    this.#cluster = cluster;
    this.#within = within;
  }

  find(pod: PodFacts): Search {
    const promised = this.#promised(pod);
    if (promised !== undefined) return { node: this.#answer(promised) };
    const again = this.#lookAgain(pod);
    if (again !== undefined) return { node: this.#answer(again) };
    const question = ask(pod, this.#cluster);
    const diagnosis = new Diagnosis(this.#cluster.nodes.length);
    const suitable: NodeFacts[] = [];
    this.#lookAround(pod, suitable, (node) => {
      const rejected = isWithin(node, this.#within) ? checkNode(question, node) : OUTSIDE;
      if (rejected === undefined) suitable.push(node);
      else diagnosis.add(node, rejected);
    });
    if (suitable.length === 0) return { diagnosis };
    this.#last = { pod, suitable };
    this.#filled.clear();
    return { node: this.#answer(pickBest(pod, this.#cluster, suitable)) };
  }

  #promised(pod: PodFacts): NodeFacts | undefined {
    const name = this.#cluster.nomination(pod.uid);
    const node = name === undefined ? undefined : this.#cluster.node(name);
    if (node === undefined || !isWithin(node, this.#within)) return undefined;
    return checkNode(ask(pod, this.#cluster), node) === undefined ? node : undefined;
  }

  #lookAgain(pod: PodFacts): NodeFacts | undefined {
    const last = this.#last;
    if (last === undefined || !faresAlike(last.pod, pod, this.#cluster)) return undefined;
    const question = ask(pod, this.#cluster);
    for (const node of this.#filled) {
      if (checkNode(question, node) !== undefined) last.suitable = last.suitable.filter((other) => other !== node);
    }
    this.#filled.clear();
    return last.suitable.length === 0 ? undefined : pickBest(pod, this.#cluster, last.suitable);
  }

  #answer(node: NodeFacts): NodeFacts {
    this.#filled.add(node);
    return node;
  }

  #lookAround(pod: PodFacts, suitable: readonly NodeFacts[], look: (node: NodeFacts) => void): void {
    const cluster = this.#cluster;
    const { nodes } = cluster;
    const named = namedNodes(pod.nodeChoice);
    if (named !== undefined) {
      for (const name of new Set(named)) {
        const node = cluster.node(name);
        if (node !== undefined) look(node);
      }
      if (suitable.length > 0) return;
    }
    const near = new Set(pod.group === undefined ? [] : cluster.membersOf(pod.group).map(({ node }) => node));
    for (const node of near) if (node.node !== undefined) look(node);
    const enough = enoughNodes(nodes.length);
    const start = nodes.length === 0 ? 0 : cluster.searchFrom % nodes.length;
    let step = 0;
    for (; step < nodes.length && suitable.length < enough; step += 1) {
      const node = nodes[(start + step) % nodes.length] as NodeFacts;
      if (!near.has(node) && named?.includes(node.name) !== true) look(node);
    }
    if (suitable.length > 0) cluster.searchFrom = (start + step) % nodes.length;
  }
}

/** Two pods for which the same nodes will do, whoever of the two is placed first. */
export function faresAlike(a: PodFacts, b: PodFacts, cluster: Cluster): boolean {
  return a.shape === b.shape && !a.looksAtPods && cluster.withAntiAffinity.size === 0;
}
