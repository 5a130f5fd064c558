import type { Amounts, PlanNode, PlanPod } from './model.ts';

/** The room on nodes that take replacements. Changes are made on a trial and kept or dropped as a whole. */
export class Room {
  readonly #free: Map<string, number[]>;

  constructor(nodes: Iterable<Pick<PlanNode, 'name' | 'free'>>) {
    this.#free = new Map([...nodes].map(({ name, free }) => [name, [...free]]));
  }

  open(name: string, free: Amounts): void {
    this.#free.set(name, [...free]);
  }

  copy(): Room {
    return new Room([...this.#free].map(([name, free]) => ({ name, free })));
  }

  /**
   * Places all pods or none, largest first, each on the first node with room. Answers where each goes, or undefined,
   * in which case nothing changed. It may miss a placement that cleverer packing would find, never invent one.
   */
  place(pods: readonly PlanPod[]): Map<string, string> | undefined {
    const placed = new Map<string, string>();
    const taken: { free: number[]; requests: Amounts }[] = [];
    const ordered = [...pods].sort((a, b) => compareAmounts(b.requests, a.requests) || compareText(a.id, b.id));
    for (const pod of ordered) {
      const node = this.#firstFit(pod);
      if (node === undefined) {
        for (const { free, requests } of taken)
          for (const [at, amount] of requests.entries()) free[at] = (free[at] ?? 0) + amount;
        return undefined;
      }
      const free = this.#free.get(node) as number[];
      for (const [at, amount] of pod.requests.entries()) free[at] = (free[at] ?? 0) - amount;
      taken.push({ free, requests: pod.requests });
      placed.set(pod.id, node);
    }
    return placed;
  }

  /** Gives back what `place` took. */
  release(pods: readonly PlanPod[], placed: ReadonlyMap<string, string>): void {
    for (const { id, requests } of pods) {
      const free = this.#free.get(placed.get(id) ?? '');
      if (free !== undefined) for (const [at, amount] of requests.entries()) free[at] = (free[at] ?? 0) + amount;
    }
  }

  fits(pod: PlanPod): boolean {
    return this.#firstFit(pod) !== undefined;
  }

  #firstFit({ eligible, requests }: PlanPod): string | undefined {
    for (const [name, free] of this.#free) {
      if (eligible !== undefined && !eligible.has(name)) continue;
      if (requests.every((amount, at) => amount <= (free[at] ?? 0))) return name;
    }
    return undefined;
  }
}

function compareAmounts(a: Amounts, b: Amounts): number {
  for (const [at, amount] of a.entries()) {
    const other = b[at] ?? 0;
    if (amount !== other) return amount - other;
  }
  return 0;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
