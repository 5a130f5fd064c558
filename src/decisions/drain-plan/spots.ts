import { Account } from './account.ts';
import type { PlanBudget, PlanPod } from './model.ts';
import type { Move } from './moves.ts';
import { compareText } from './room.ts';

/** The pods of one unit on one node. */
export interface Spot {
  readonly unit: number;
  readonly node: string;
  readonly pods: readonly PlanPod[];
}

export function gatherSpots(moves: readonly Move[]): Spot[] {
  return moves.flatMap(({ pods }, unit) => {
    const byNode = new Map<string, PlanPod[]>();
    for (const pod of [...pods].sort((a, b) => compareText(a.id, b.id))) {
      const list = byNode.get(pod.node);
      if (list === undefined) byNode.set(pod.node, [pod]);
      else list.push(pod);
    }
    return [...byNode].map(([node, own]) => ({ unit, node, pods: own }));
  });
}

/**
 * Pods of a unit in as few parts as its budgets take: all at once where they can be, one by one where the unit has
 * members to spare and so loses nothing by it.
 */
export function partsOf(
  { spare, unit }: Move,
  pods: readonly PlanPod[],
  budgets: ReadonlyMap<string, PlanBudget>,
): PlanPod[][] {
  if (spare > 0) return pods.map((pod) => [pod]);
  const parts: { account: Account; pods: PlanPod[] }[] = [];
  const hardest = [...pods].sort((a, b) => (b.cells?.length ?? 0) - (a.cells?.length ?? 0) || compareText(a.id, b.id));
  for (const pod of hardest) {
    const part = parts.find(({ account }) => account.take(unit, [pod]));
    if (part !== undefined) part.pods.push(pod);
    else {
      const account = new Account(budgets);
      account.take(unit, [pod]);
      parts.push({ account, pods: [pod] });
    }
  }
  return parts.map((part) => part.pods);
}
