import { ask, checkNode, type Cluster, type NodeFacts, type PodFacts, settle } from '../placement/index.ts';
import type { PlanPod, PlanQuestion } from './model.ts';
import { compareText } from './room.ts';

export interface NaiveDrain {
  /** Times a unit goes below what it needs. */
  readonly disruptions: number;
  readonly hitAgain: number;
}

/**
 * What draining node after node in the order given costs: each node is cordoned only when its turn comes, so
 * replacements land on the emptiest node that is open, often one whose turn is still to come. Budgets make such a drain
 * wait between pods but do not change where they land, so they are left out. Pods for which there is no room wait.
 */
export function countNaiveDisruptions(question: PlanQuestion): NaiveDrain {
  const { cluster } = question;
  const onNode = new Map<string, Set<PlanPod>>(question.nodes.map(({ name }) => [name, new Set()]));
  for (const pod of question.pods) onNode.get(pod.node)?.add(pod);
  const units = new Map(question.units.map((unit) => [unit.id, unit]));
  const hits = new Map<string, number>();
  const undo: (() => void)[] = [];
  const targets = new Emptiest(cluster);
  for (const { drain, name } of question.nodes) {
    if (!drain) continue;
    cluster.setClosed(name, true);
    targets.changed(name);
    undo.push(() => cluster.setClosed(name, false));
    const leaving = [...(onNode.get(name) ?? [])].sort((a, b) => compareText(a.id, b.id));
    const lost = new Map<string, number>();
    for (const pod of leaving) lost.set(pod.unit, (lost.get(pod.unit) ?? 0) + 1);
    for (const [id, count] of lost) {
      const unit = units.get(id);
      if (unit === undefined || unit.healthy < unit.needed) continue;
      if (unit.wholesale || unit.healthy - count < unit.needed) hits.set(id, (hits.get(id) ?? 0) + 1);
    }
    targets.order();
    for (const pod of leaving) {
      onNode.get(name)?.delete(pod);
      const { facts, replacement } = pod;
      const stood = cluster.placed(facts.uid);
      if (stood === undefined) continue;
      cluster.remove(facts.uid);
      targets.changed(stood.node.name);
      undo.push(() => cluster.place(stood.pod, stood.node.name));
      const target = replacement && targets.find(replacement);
      if (replacement === undefined || target === undefined) continue;
      settle(replacement, target, cluster);
      targets.changed(target.name);
      undo.push(() => cluster.remove(replacement.uid));
      onNode.get(target.name)?.add(pod);
    }
    if (question.nodesReturn) cluster.setClosed(name, false);
    targets.changed(name);
  }
  for (const back of undo.reverse()) back();
  const counts = [...hits.values()];
  return {
    disruptions: counts.reduce((sum, count) => sum + count, 0),
    hitAgain: counts.filter((count) => count > 1).length,
  };
}

/**
 * Nodes by how empty they are. They are put in order anew for each node that is drained, not for each of its pods: few
 * pods change little. Only what has changed since finds a new place in it.
 */
class Emptiest {
  readonly #cluster: Cluster;
  readonly #changed = new Set<NodeFacts>();
  #ranked: readonly Ranked[];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#ranked = rank(cluster.nodes);
  }

  changed(name: string): void {
    const node = this.#cluster.node(name);
    if (node !== undefined) this.#changed.add(node);
  }

  order(): void {
    const same = this.#ranked.filter(({ node }) => !this.#changed.has(node));
    const moved = rank(this.#changed);
    this.#changed.clear();
    const merged: Ranked[] = [];
    let at = 0;
    for (const one of same) {
      for (let next = moved[at]; next !== undefined && byUse(next, one) < 0; next = moved[at]) {
        merged.push(next);
        at += 1;
      }
      merged.push(one);
    }
    this.#ranked = [...merged, ...moved.slice(at)];
  }

  find(pod: PodFacts): NodeFacts | undefined {
    const question = ask(pod, this.#cluster);
    return this.#ranked.find(({ node }) => checkNode(question, node) === undefined)?.node;
  }
}

interface Ranked {
  readonly node: NodeFacts;
  readonly used: number;
}

const byUse = (a: Ranked, b: Ranked): number => a.used - b.used || compareText(a.node.name, b.node.name);

/** Those that take pods, the emptiest first. */
function rank(nodes: Iterable<NodeFacts>): Ranked[] {
  const share = ({ allocatable, allowedPods, pods, requested }: NodeFacts): number => {
    let used = allowedPods === 0 ? 1 : pods.size / allowedPods;
    for (const [slot, amount] of allocatable.entries()) {
      if (amount > 0) used = Math.max(used, (requested[slot] ?? 0) / amount);
    }
    return used;
  };
  const open = [...nodes].filter(({ closed }) => !closed);
  return open.map((node) => ({ node, used: share(node) })).sort(byUse);
}
