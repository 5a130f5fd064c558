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
  const free = new Map(question.nodes.map((node) => [node.name, [...node.free]]));
  const onNode = new Map<string, Set<PlanPod>>(question.nodes.map(({ name }) => [name, new Set()]));
  for (const pod of question.pods) onNode.get(pod.node)?.add(pod);
  const units = new Map(question.units.map((unit) => [unit.id, unit]));
  const open = new Set(question.nodes.map(({ name }) => name));
  const hits = new Map<string, number>();

  for (const { drain, name } of question.nodes) {
    if (!drain) continue;
    open.delete(name);
    const leaving = [...(onNode.get(name) ?? [])].sort((a, b) => compareText(a.id, b.id));
    const lost = new Map<string, number>();
    for (const pod of leaving) lost.set(pod.unit, (lost.get(pod.unit) ?? 0) + 1);
    for (const [id, count] of lost) {
      const unit = units.get(id);
      if (unit === undefined || unit.healthy < unit.needed) continue;
      if (unit.wholesale || unit.healthy - count < unit.needed) hits.set(id, (hits.get(id) ?? 0) + 1);
    }
    for (const pod of leaving) {
      onNode.get(name)?.delete(pod);
      add(free.get(name), pod.requests, 1);
      const target = emptiest(pod, open, free);
      if (target === undefined) continue;
      add(free.get(target), pod.requests, -1);
      onNode.get(target)?.add(pod);
    }
    if (question.nodesReturn) open.add(name);
  }
  const counts = [...hits.values()];
  return {
    disruptions: counts.reduce((sum, count) => sum + count, 0),
    hitAgain: counts.filter((count) => count > 1).length,
  };
}

function emptiest(
  { eligible, requests }: PlanPod,
  open: ReadonlySet<string>,
  free: ReadonlyMap<string, readonly number[]>,
): string | undefined {
  let best: string | undefined;
  let bestRoom = -1;
  for (const name of open) {
    if (eligible !== undefined && !eligible.has(name)) continue;
    const room = free.get(name) ?? [];
    if (!requests.every((amount, at) => amount <= (room[at] ?? 0))) continue;
    if ((room[0] ?? 0) > bestRoom) {
      best = name;
      bestRoom = room[0] ?? 0;
    }
  }
  return best;
}

function add(target: number[] | undefined, amounts: readonly number[], sign: 1 | -1): void {
  if (target === undefined) return;
  for (const [at, amount] of amounts.entries()) target[at] = (target[at] ?? 0) + sign * amount;
}
