import type { NodeFacts } from './node-facts.ts';

const MAX_SHAPES = 64;

/** Nodes that take pods, together, and one by one. */
export interface NodePool {
  readonly nodes: readonly NodeFacts[];
  readonly has: ReadonlySet<NodeFacts>;
}

export const poolOf = (nodes: readonly NodeFacts[]): NodePool => ({ nodes, has: new Set(nodes) });

interface Known {
  /** How much of the list of changes has been looked at. */
  at: number;
  readonly fitting: Set<NodeFacts>;
}

/**
 * Which nodes take pods of a shape, for pods that look at no others. What a node answered is kept until the node
 * changes, so that a question costs as much as has changed since the last one and not as much as there are nodes.
 */
export class NodeAnswers {
  #changes: NodeFacts[] = [];
  readonly #known = new Map<string, Known>();
  /** Nodes with room that is promised or kept: what they answer depends on who asks. */
  readonly #special = new Set<NodeFacts>();
  #limit = 1_000;

  changed(node: NodeFacts): void {
    if (node.holds.size > 0 || node.nominated.size > 0) this.#special.add(node);
    else this.#special.delete(node);
    if (this.#known.size === 0) return;
    this.#changes.push(node);
    if (this.#changes.length <= this.#limit) return;
    this.#changes = [];
    this.#known.clear();
  }

  /** The nodes of a pool that `fits` says yes to. It must say the same for every pod of the shape. */
  fitting(shape: string, pool: NodePool, { all, fits }: Fitting): NodeFacts[] {
    const found: NodeFacts[] = [];
    for (const node of this.#upToDate(shape, all, fits)) {
      if (pool.has.has(node) && !this.#special.has(node)) found.push(node);
    }
    for (const node of this.#special) if (pool.has.has(node) && fits(node)) found.push(node);
    return found;
  }

  #upToDate(shape: string, all: readonly NodeFacts[], fits: Fitting['fits']): ReadonlySet<NodeFacts> {
    const isOpen = (node: NodeFacts): boolean => node.node !== undefined && !node.closed && fits(node);
    let known = this.#known.get(shape);
    if (known === undefined) {
      if (this.#known.size >= MAX_SHAPES) this.#known.clear();
      if (this.#known.size === 0) this.#changes = [];
      this.#limit = Math.max(1_000, 4 * all.length);
      known = { at: this.#changes.length, fitting: new Set(all.filter(isOpen)) };
      this.#known.set(shape, known);
      return known.fitting;
    }
    const { fitting } = known;
    for (const node of new Set(this.#changes.slice(known.at))) {
      if (isOpen(node)) fitting.add(node);
      else fitting.delete(node);
    }
    known.at = this.#changes.length;
    return fitting;
  }
}

interface Fitting {
  /** Every node there is. */
  readonly all: readonly NodeFacts[];
  readonly fits: (node: NodeFacts) => boolean;
}
