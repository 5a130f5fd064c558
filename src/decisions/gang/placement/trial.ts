import type { Cluster } from '../../placement/cluster/cluster.ts';
import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import { settle } from '../../placement/filters/settle.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';

export interface Placement {
  readonly pod: PodFacts;
  readonly node: string;
}

/** Placements tried on a cluster, to be taken back. */
export class Trial {
  readonly cluster: Cluster;
  readonly #placements: Placement[] = [];

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  get placements(): readonly Placement[] {
    return this.#placements;
  }

  place(pod: PodFacts, node: NodeFacts): void {
    settle(pod, node, this.cluster);
    this.#placements.push({ pod, node: node.name });
  }

  /** Takes back everything after the first `keep` placements. */
  rollback(keep = 0): void {
    for (const { pod } of this.#placements.splice(keep)) this.cluster.remove(pod.uid);
  }
}
