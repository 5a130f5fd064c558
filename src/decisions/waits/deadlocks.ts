import { findLive } from './live.ts';
import type { Deadlock, WaitingDrain, WaitState } from './model.ts';
import { findKnots, shortestRing, type WaitEdges } from './rings.ts';

/** Every knot of things that wait for each other and that nothing outside helps, in the order of their drains' names. */
export function findDeadlocks(state: WaitState): Deadlock[] {
  const live = findLive(state);
  const edges = edgesAmong(state, live);
  const drains = new Map(state.drains.map((drain) => [drain.id, drain]));
  return findKnots(edges)
    .map((knot): Deadlock => {
      const members = [...knot].sort();
      const caught = members.filter((id) => drains.has(id));
      const ring = shortestRing(members, edges);
      const found = { members, drains: caught, ring };
      const pause = cheapest(state, caught, drains);
      return pause === undefined ? { ...found, loosen: smallestChange(state, members, caught) } : { ...found, pause };
    })
    .filter(({ drains: caught }) => caught.length > 0)
    .sort((one, other) => (one.drains[0] ?? '').localeCompare(other.drains[0] ?? ''));
}

/** Who waits for whom among what does not get on. */
function edgesAmong(state: WaitState, live: ReadonlySet<string>): WaitEdges {
  const edges = new Map<string, readonly string[]>();
  const add = (id: string, to: readonly string[]): void => {
    if (!live.has(id)) edges.set(id, [...new Set(to)]);
  };
  for (const { id, waitsFor } of state.drains) add(id, waitsFor);
  for (const { id, short } of state.budgets) add(id, short);
  for (const { id, waitsFor } of state.groups) add(id, waitsFor);
  for (const { id, keptBy } of state.rooms)
    add(
      id,
      keptBy.map(({ drain }) => drain),
    );
  const among = (ids: readonly string[]): string[] => ids.filter((id) => edges.has(id));
  return new Map([...edges].map(([id, to]) => [id, among(to)]));
}

/** The drain that costs least to pause, of those whose pause lets all others of the knot get on. */
function cheapest(
  state: WaitState,
  caught: readonly string[],
  drains: ReadonlyMap<string, WaitingDrain>,
): string | undefined {
  const candidates = caught
    .flatMap((id) => drains.get(id) ?? [])
    .filter(({ id, isOurs }) => {
      if (!isOurs) return false;
      const live = findLive(state, { paused: id });
      return caught.every((other) => other === id || live.has(other));
    });
  return candidates.sort(compareCost)[0]?.id;
}

function compareCost(one: WaitingDrain, other: WaitingDrain): number {
  const far = Number.POSITIVE_INFINITY;
  const [a, b] = [one.cost, other.cost];
  return (
    a.groupsDown - b.groupsDown ||
    a.podsMoved - b.podsMoved ||
    a.nodesDrained - b.nodesDrained ||
    later(a.deadline ?? far, b.deadline ?? far) ||
    later(a.createdAt, b.createdAt) ||
    (one.id < other.id ? -1 : 1)
  );
}

/** The later comes first; two that never come are equal. */
const later = (one: number, other: number): number => (one === other ? 0 : other > one ? 1 : -1);

/** The budget of a knot that has to let go of fewest more for every drain of it to get on. */
function smallestChange(state: WaitState, members: readonly string[], caught: readonly string[]): Deadlock['loosen'] {
  const helping = state.budgets
    .filter(({ id }) => members.includes(id))
    .filter(({ id }) => {
      const live = findLive(state, { loosened: id });
      return caught.every((drain) => live.has(drain));
    })
    .sort((one, other) => one.lacks - other.lacks || (one.id < other.id ? -1 : 1));
  const [first] = helping;
  return first && { budget: first.id, by: first.lacks };
}

/** A deadlock in one sentence. */
export function tellDeadlock({ loosen, pause, ring }: Deadlock): string {
  const text = [...ring, ring[0] ?? ''].join(' → ');
  if (pause !== undefined) return `${text}; cheapest to pause: ${pause}`;
  if (loosen !== undefined) {
    return `${text}; pausing one of Quorate's drains does not help, letting ${loosen.budget} lose ${loosen.by} more does`;
  }
  return `${text}; neither pausing one of Quorate's drains nor loosening one budget helps`;
}
