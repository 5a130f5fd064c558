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
  for (const { drain, name } of question.nodes) {
    if (!drain) continue;
    cluster.setClosed(name, true);
    undo.push(() => cluster.setClosed(name, false));
    const leaving = [...(onNode.get(name) ?? [])].sort((a, b) => compareText(a.id, b.id));
    const lost = new Map<string, number>();
    for (const pod of leaving) lost.set(pod.unit, (lost.get(pod.unit) ?? 0) + 1);
    for (const [id, count] of lost) {
      const unit = units.get(id);
      if (unit === undefined || unit.healthy < unit.needed) continue;
      if (unit.wholesale || unit.healthy - count < unit.needed) hits.set(id, (hits.get(id) ?? 0) + 1);
    }
    const targets = new Emptiest(cluster);
    for (const pod of leaving) {
      onNode.get(name)?.delete(pod);
      const { facts, replacement } = pod;
      const stood = cluster.placed(facts.uid);
      if (stood === undefined) continue;
      cluster.remove(facts.uid);
      undo.push(() => cluster.place(stood.pod, stood.node.name));
      const target = replacement && targets.find(replacement);
      if (replacement === undefined || target === undefined) continue;
      settle(replacement, target, cluster);
      undo.push(() => cluster.remove(replacement.uid));
      onNode.get(target.name)?.add(pod);
    }
    if (question.nodesReturn) cluster.setClosed(name, false);
  }
  for (const back of undo.reverse()) back();
  const counts = [...hits.values()];
  return {
    disruptions: counts.reduce((sum, count) => sum + count, 0),
    hitAgain: counts.filter((count) => count > 1).length,
  };
}

/** Nodes by how empty they are, sorted once for each node that is drained: few pods change that much. */
class Emptiest {
  readonly #cluster: Cluster;
  readonly #nodes: readonly NodeFacts[];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    const share = ({ allocatable, allowedPods, pods, requested }: NodeFacts): number => {
      let used = allowedPods === 0 ? 1 : pods.size / allowedPods;
      for (const [slot, amount] of allocatable.entries()) {
        if (amount > 0) used = Math.max(used, (requested[slot] ?? 0) / amount);
      }
      return used;
    };
    const ranked = cluster.nodes.filter(({ closed }) => !closed).map((node) => ({ node, used: share(node) }));
    ranked.sort((a, b) => a.used - b.used || compareText(a.node.name, b.node.name));
    this.#nodes = ranked.map(({ node }) => node);
  }

  find(pod: PodFacts): NodeFacts | undefined {
    const question = ask(pod, this.#cluster);
    return this.#nodes.find((node) => checkNode(question, node) === undefined);
  }
}
