import { confidenceOf } from '../placement/index.ts';
import { Account } from './account.ts';
import type { PlanBudget, UnitEviction } from './model.ts';
import { compareRank, type Move } from './moves.ts';
import type { Moved, Part, Room } from './room.ts';
import { evictionOf } from './step-eviction.ts';

/** So many sets of units are tried for one step; of two units first, then of three. */
const MAX_SETS = 2_000;
const SIZES = [2, 3];
/** Of so many units every order is tried. */
const MAX_ORDERED = 3;

interface Exchanging {
  readonly room: Room;
  readonly budgets: ReadonlyMap<string, PlanBudget>;
  /** At least one of these goes. */
  readonly wanted: ReadonlySet<string>;
}

/**
 * A step in which units go into each other's room: none of the wanted ones fits while the others stand, all of them
 * fit once all are gone. Only what restarts as a whole leaves room on nodes that stay. The fewest units that do it
 * are taken, and every budget lets all of them go at once. Empty when there is no such step.
 */
export function exchangeRoom(moves: Iterable<Move>, { budgets, room, wanted }: Exchanging): UnitEviction[] {
  const partners = [...moves].filter((move) => room.leavesRoom(move)).sort(compareRank);
  const stuck = new Set(partners.filter((move) => wanted.has(move.unit.id) && room.trial(() => !room.move(move))));
  if (stuck.size === 0) return [];
  let sets = 0;
  for (const size of SIZES) {
    for (const set of combinations(partners, size)) {
      if (!set.some((move) => stuck.has(move))) continue;
      if ((sets += 1) > MAX_SETS) return [];
      const account = new Account(budgets);
      if (!set.every(({ pods, unit }) => account.take(unit, pods))) continue;
      const found = exchangeInAnyOrder(set, room);
      if (found === undefined) continue;
      return found.map(({ moved, part }) => {
        const eviction = evictionOf(part, part.pods, [moved]);
        const { confidence } = eviction;
        const assumed = confidence.kind === 'exact' ? [] : confidence.list;
        return { ...eviction, confidence: confidenceOf([...assumed, 'RoomOfTheGoing']) };
      });
    }
  }
  return [];
}

/** Which of the units is placed first decides where the others find room. */
export function exchangeInAnyOrder<P extends Part>(
  parts: readonly P[],
  room: Room,
): { part: P; moved: Moved }[] | undefined {
  for (const order of parts.length > MAX_ORDERED ? [parts] : permutations(parts)) {
    const moved = room.exchange(order);
    if (moved !== undefined) return order.map((part, at) => ({ part, moved: moved[at] as Moved }));
  }
  return undefined;
}

function* combinations<T>(of: readonly T[], size: number): Generator<T[]> {
  if (size === 0) yield [];
  else {
    for (const [at, first] of of.entries()) {
      for (const rest of combinations(of.slice(at + 1), size - 1)) yield [first, ...rest];
    }
  }
}

function* permutations<T>(of: readonly T[]): Generator<T[]> {
  if (of.length === 0) yield [];
  for (const [at, first] of of.entries()) {
    for (const rest of permutations(of.filter((_, other) => other !== at))) yield [first, ...rest];
  }
}
