import type { PlanPod } from './model.ts';
import type { Move } from './moves.ts';

export interface LastQuestion {
  readonly moves: readonly Move[];
  /** Pods of a unit that are still to go. */
  readonly leftOf: (unit: number) => readonly PlanPod[];
  readonly costOf: (move: Move, pods: readonly PlanPod[]) => number;
  readonly fits: (pods: readonly PlanPod[]) => boolean;
}

export interface LastMoves {
  readonly pods: readonly PlanPod[];
  readonly cost: number;
}

/**
 * What else can go when no further node can be emptied: the most pods, at the least cost. A unit that goes down goes
 * whole or not at all, and must go if some of it has gone before; undefined when that is not possible.
 */
export function chooseLast({ costOf, fits, leftOf, moves }: LastQuestion): LastMoves | undefined {
  const items = moves.flatMap((move, unit) => {
    const pods = leftOf(unit);
    if (pods.length === 0) return [];
    if (move.spare > 0) return pods.map((pod) => ({ pods: [pod], cost: 0, must: false }));
    return [{ pods, cost: costOf(move, pods), must: pods.length < move.pods.length }];
  });
  // What must go comes first, then large pieces, so that a good answer is found early and bounds the rest.
  items.sort((a, b) => Number(b.must) - Number(a.must) || b.pods.length - a.pods.length);
  const rest = items.map((_, at) => items.slice(at).reduce((sum, { pods }) => sum + pods.length, 0));
  let best: LastMoves | undefined;
  const look = (at: number, chosen: readonly PlanPod[], cost: number): void => {
    const item = items[at];
    if (item === undefined) {
      if (best === undefined || isBetter({ pods: chosen, cost }, best)) best = { pods: chosen, cost };
      return;
    }
    const most = chosen.length + (rest[at] ?? 0);
    if (best !== undefined && (most < best.pods.length || (most === best.pods.length && cost >= best.cost))) return;
    const taken = [...chosen, ...item.pods];
    if (fits(taken)) look(at + 1, taken, cost + item.cost);
    if (!item.must) look(at + 1, chosen, cost);
  };
  look(0, [], 0);
  return best;
}

const isBetter = (a: LastMoves, b: LastMoves): boolean =>
  a.pods.length > b.pods.length || (a.pods.length === b.pods.length && a.cost < b.cost);
