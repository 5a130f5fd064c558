export type WaitEdges = ReadonlyMap<string, readonly string[]>;

/** Parts in which everything leads to everything else, by Tarjan; single things only where they lead to themselves. */
export function findKnots(edges: WaitEdges): string[][] {
  const numbers = new Map<string, number>();
  const lows = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const knots: string[][] = [];
  const low = (id: string): number => lows.get(id) ?? 0;
  for (const root of edges.keys()) {
    if (numbers.has(root)) continue;
    const path: { id: string; at: number }[] = [];
    const enter = (id: string): void => {
      numbers.set(id, numbers.size);
      lows.set(id, numbers.size - 1);
      stack.push(id);
      onStack.add(id);
      path.push({ id, at: 0 });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { id } = top;
      const next = edges.get(id)?.[top.at];
      top.at += 1;
      if (next === undefined) {
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) lows.set(parent.id, Math.min(low(parent.id), low(id)));
        if (low(id) === numbers.get(id)) knots.push(stack.splice(stack.indexOf(id)));
        for (const one of knots.at(-1) ?? []) onStack.delete(one);
      } else if (!numbers.has(next)) enter(next);
      else if (onStack.has(next)) lows.set(id, Math.min(low(id), numbers.get(next) ?? 0));
    }
  }
  return knots.filter((knot) => knot.length > 1 || edges.get(knot[0] ?? '')?.includes(knot[0] ?? '') === true);
}

/** The shortest ring of a part; among equals the least, when each begins at its least member. */
export function shortestRing(members: readonly string[], edges: WaitEdges): string[] {
  let best: string[] | undefined;
  for (const start of [...members].sort()) {
    const found = ringFrom(start, new Set(members.filter((id) => id >= start)), edges, best?.length);
    if (found !== undefined && (best === undefined || found.length < best.length)) best = found;
  }
  return best ?? [];
}

/** Breadth first in the order of names, so that the first way back is the least of the shortest. */
function ringFrom(
  start: string,
  within: ReadonlySet<string>,
  edges: WaitEdges,
  shorterThan = Number.POSITIVE_INFINITY,
): string[] | undefined {
  const cameFrom = new Map<string, string>();
  let layer = [start];
  for (let length = 1; layer.length > 0 && length < shorterThan; length += 1) {
    const next: string[] = [];
    for (const id of layer) {
      const targets = [...(edges.get(id) ?? [])].sort();
      if (targets.includes(start)) return wayTo(id, start, cameFrom);
      for (const target of targets) {
        if (!within.has(target) || cameFrom.has(target)) continue;
        cameFrom.set(target, id);
        next.push(target);
      }
    }
    layer = next;
  }
  return undefined;
}

function wayTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [end];
  for (let id = end; id !== start; ) {
    id = cameFrom.get(id) ?? start;
    way.unshift(id);
  }
  return way;
}
