import type { Assignment } from '../placement/index.ts';
import type { PlanPod } from './model.ts';
import { compareRank, type Move } from './moves.ts';
import { type MovePart, type PlacedPart, without } from './node-order.ts';
import type { Room } from './room.ts';

export interface ChosenParts {
  readonly parts: readonly PlacedPart[];
  /** Room for the node that comes next, beside all of that; undefined when there is none. */
  readonly ahead: readonly Assignment[] | undefined;
}

/**
 * What goes to empty a node, and where: its pods, and as many other pods of their units as leave room for the next
 * node. The places are part of the answer: others could take the very room that is kept.
 */
export function chooseParts(
  { here, next, node }: { node: string; here: readonly MovePart[]; next: readonly MovePart[] },
  { gone, room }: { gone: ReadonlySet<PlanPod>; room: Room },
): ChosenParts | undefined {
  return room.trial(() => {
    const first = placeParts(without(here, gone), room);
    if (first === undefined) return undefined;
    const taken = new Set([...gone, ...here.flatMap(({ pods }) => pods)]);
    const ahead = placeParts(without(next, taken), room);
    if (ahead === undefined) return { parts: first, ahead: undefined };
    const kept = new Map<Move, PlacedPart[]>();
    for (const part of ahead) {
      kept.set(part.move, [...(kept.get(part.move) ?? []), part]);
      for (const pod of part.pods) taken.add(pod);
    }
    const fewestOthers = [...first].sort(
      (a, b) => a.move.pods.length - b.move.pods.length || compareRank(a.move, b.move),
    );
    const parts = fewestOthers.map((part) => {
      const { move, moved } = part;
      if (move.spare > 0) return part;
      const others = move.pods.filter((pod) => pod.node !== node && !taken.has(pod));
      const rest = others.length === 0 ? [] : room.moveAll([{ unit: move.unit, pods: others }]);
      if (rest === undefined) return part;
      const before = (kept.get(move) ?? []).flatMap((one) => one.moved);
      kept.delete(move);
      return { move, pods: move.pods.filter((pod) => !gone.has(pod)), moved: [...moved, ...before, ...rest] };
    });
    const left = [...kept.values()].flat();
    return { parts, ahead: left.flatMap(({ moved }) => moved.flatMap(({ where }) => where)) };
  });
}

/** Places parts, all or none; units that must keep together first: they have the fewest places to choose from. */
export function placeParts(parts: readonly MovePart[], room: Room): PlacedPart[] | undefined {
  const isFree = ({ move }: MovePart): number => (move.unit.topology === undefined ? 1 : 0);
  const ordered = [...parts].sort((a, b) => isFree(a) - isFree(b));
  const moved = room.moveAll(ordered.map(({ move, pods }) => ({ unit: move.unit, pods })));
  return moved && ordered.map((part, at) => ({ ...part, moved: moved.slice(at, at + 1) }));
}
