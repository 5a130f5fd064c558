import { Account } from './account.ts';
import type { PlanBudget, PlanPod } from './model.ts';
import type { Move } from './moves.ts';
import { compareText } from './room.ts';

/** Pods of one unit on one node that go together. */
export interface Spot {
  readonly unit: number;
  readonly node: string;
  readonly pods: readonly PlanPod[];
}

/**
 * The pods of a unit on one node are one spot. Where a budget lets a unit go only in parts, each pod is: a part may be
 * filled up with pods of another node.
 */
export function gatherSpots(moves: readonly Move[], budgets: ReadonlyMap<string, PlanBudget>): Spot[] {
  return moves.flatMap((move, unit) => {
    const ordered = [...move.pods].sort((a, b) => compareText(a.id, b.id));
    if (move.spare === 0 && partsOf(move, ordered, budgets).length > 1) {
      return ordered.map((pod) => ({ unit, node: pod.node, pods: [pod] }));
    }
    const byNode = new Map<string, PlanPod[]>();
    for (const pod of ordered) {
      const list = byNode.get(pod.node);
      if (list === undefined) byNode.set(pod.node, [pod]);
      else list.push(pod);
    }
    return [...byNode].map(([node, pods]) => ({ unit, node, pods }));
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
