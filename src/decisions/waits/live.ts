import type { WaitState } from './model.ts';

/** What is supposed of a state. */
export interface Supposed {
  /** This drain lets go of its nodes that are not empty yet, and waits. */
  readonly paused?: string | undefined;
  /** This budget lets one go. */
  readonly loosened?: string | undefined;
}

/**
 * Everything that gets on sooner or later, by the least fixed point. Rules:
 *  - a drain that gets on by itself, or waits only for what gets on
 *  - a budget that lets one go, or of whose short groups enough get on
 *  - a group that is whole or has places for what it lacks, or whose rooms all come
 *  - room that comes from outside, or that a drain which gets on gives back
 */
export function findLive(
  { budgets, drains, groups, rooms }: WaitState,
  { loosened, paused }: Supposed = {},
): Set<string> {
  const live = new Set<string>();
  const returning = new Set(drains.filter(({ returns }) => returns).map(({ id }) => id));
  const isLive = (id: string): boolean => live.has(id);
  const known = new Set([...drains, ...budgets, ...groups, ...rooms].map(({ id }) => id));
  // What nobody knows anything about is no reason for an alarm.
  const getsOn = (id: string): boolean => isLive(id) || !known.has(id);
  let before = -1;
  while (before !== live.size) {
    before = live.size;
    for (const { id, isLive: itself, keptBy } of rooms) {
      const returned = keptBy.some(
        ({ drain, opensWhenPaused }) =>
          (drain === paused && opensWhenPaused) || (returning.has(drain) && isLive(drain)) || !known.has(drain),
      );
      if (itself || returned) live.add(id);
    }
    for (const { id, isLive: itself, waitsFor } of groups) if (itself || waitsFor.every(getsOn)) live.add(id);
    for (const { id, lacks, short } of budgets) {
      if (id === loosened || short.filter(getsOn).length >= lacks) live.add(id);
    }
    for (const { id, isLive: itself, waitsFor } of drains) {
      if (id === paused) continue;
      if (itself || waitsFor.every((one) => one === paused || getsOn(one))) live.add(id);
    }
  }
  return live;
}
