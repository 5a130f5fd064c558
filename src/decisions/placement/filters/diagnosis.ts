import type { NodeFacts } from '../cluster/node-facts.ts';
import type { FilterName, Rejection } from './rejection.ts';

/** Why no node took a pod: one answer per node. */
export class Diagnosis {
  readonly nodeCount: number;
  // Two lists and no map: a full cluster fills them once for every pod that is tried.
  readonly #nodes: NodeFacts[] = [];
  readonly #rejections: Rejection[] = [];

  constructor(nodeCount: number) {
    this.nodeCount = nodeCount;
  }

  add(node: NodeFacts, rejected: Rejection): void {
    this.#nodes.push(node);
    this.#rejections.push(rejected);
  }

  /** The filters that refused some node: what would have to change before another try makes sense. */
  get filters(): ReadonlySet<FilterName> {
    return new Set(this.#rejections.map(({ filter }) => filter));
  }

  /** Nodes that removing pods could open. */
  get resolvable(): NodeFacts[] {
    return this.#nodes.filter((_, index) => this.#rejections[index]?.resolvable);
  }

  /** `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` */
  get message(): string {
    const counts = new Map<string, number>();
    for (const { reasons } of this.#rejections) {
      for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    return formatUnavailable(this.nodeCount, counts);
  }
}

export function formatUnavailable(nodeCount: number, counts: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  const head = `0/${nodeCount} nodes are available:`;
  return parts.length === 0 ? head : `${head} ${parts.join(', ')}.`;
}
