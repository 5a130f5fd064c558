import type { Node, Pod } from '../../api/generated/core-v1.ts';
import { ask, checkNode, type Cluster, type PodFacts, podFacts } from '../placement/index.ts';
import { isBoundToNode } from '../drain-question/index.ts';

/** Where pods that wait could go: now, when a drain lets go of a node, and when it has emptied it and gives it back. */
export class WaitingPlaces {
  readonly #cluster: Cluster;
  /** Taints that go with a drain. */
  readonly #passing: ReadonlySet<string>;

  constructor(cluster: Cluster, passing: ReadonlySet<string>) {
    this.#cluster = cluster;
    this.#passing = passing;
  }

  /**
   * Those of a group's pods that have no place on open nodes. Pods that are alike are placed beside each other; of others
   * each is looked at alone: one too few is found rather than one too many.
   */
  homeless(pods: readonly Pod[]): Pod[] {
    const facts = pods.map((pod) => podFacts(pod, this.#cluster.resources));
    const alike = facts.every((one) => !one.looksAtPods && one.shape === facts[0]?.shape);
    const placed: string[] = [];
    const left: Pod[] = [];
    for (const one of facts) {
      const node = this.#findOpen(one);
      if (node === undefined) left.push(one.pod);
      else if (alike) {
        this.#cluster.place(one, node);
        placed.push(one.uid);
      }
    }
    for (const uid of placed) this.#cluster.remove(uid);
    return left;
  }

  #findOpen(pod: PodFacts): string | undefined {
    const question = ask(pod, this.#cluster);
    return this.#cluster.nodes.find((node) => checkNode(question, node) === undefined)?.name;
  }

  /** Whether a drained node would take the pod if it was open as it is, and if it was empty. */
  takes(pod: Pod, node: Node): { asItIs: boolean; whenEmpty: boolean } {
    const cluster = this.#cluster;
    const name = node.metadata.name ?? '';
    const there = cluster.node(name);
    if (there === undefined) return { asItIs: false, whenEmpty: false };
    const facts = podFacts(pod, cluster.resources);
    const fits = (): boolean => checkNode(ask(facts, cluster), there) === undefined;
    cluster.setNode(this.#opened(node));
    const asItIs = fits();
    const moving = [...there.pods.values()].filter((one) => !isBoundToNode(one.pod));
    for (const one of moving) cluster.remove(one.uid);
    const whenEmpty = fits();
    for (const one of moving) cluster.place(one, name);
    cluster.setNode(node);
    return { asItIs, whenEmpty };
  }

  #opened(node: Node): Node {
    const taints = (node.spec?.taints ?? []).filter(({ key }) => !this.#passing.has(key));
    return { ...node, spec: { ...node.spec, unschedulable: false, taints } };
  }
}
