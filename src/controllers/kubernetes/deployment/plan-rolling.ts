/** How many pods each ReplicaSet gets next in a rolling update. Pure; one step at a time. */
import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { isRolling, limitsOf, replicasOf } from './limits.ts';
import { allOf, availableOf, compareAge, isActive, type ReplicaSets, sizeOf, sum } from './replica-sets.ts';

/** The size the new ReplicaSet may have now, all others considered. */
export function planNewSize(deployment: Deployment, others: readonly ReplicaSet[], currentSize: number): number {
  const replicas = replicasOf(deployment);
  if (currentSize >= replicas || !isRolling(deployment)) return replicas;
  const room = replicas + limitsOf(deployment).surge - sum(others, sizeOf) - currentSize;
  return room <= 0 ? currentSize : currentSize + Math.min(room, replicas - currentSize);
}

export interface Resize {
  readonly replicaSet: ReplicaSet;
  readonly size: number;
}

/**
 * Takes pods from old ReplicaSets, oldest first: those that are unavailable anyway, then as many available ones as the
 * Deployment can spare. Unavailable pods of the new ReplicaSet count against the room, so that a rollout that does not
 * come up does not eat what still works. Stops at a ReplicaSet whose status lags behind its size.
 */
export function planOldSizes(deployment: Deployment, sets: ReplicaSets & { current: ReplicaSet }): Resize[] {
  const old = sets.old.filter(isActive).toSorted(compareAge);
  const everything = allOf(sets);
  const needed = replicasOf(deployment) - limitsOf(deployment).unavailable;
  const room = sum(everything, sizeOf) - needed - (sizeOf(sets.current) - availableOf(sets.current));
  if (old.length === 0 || room <= 0) return [];

  const sizes = new Map(old.map((replicaSet) => [replicaSet, sizeOf(replicaSet)]));
  let left = room;
  for (const replicaSet of old) {
    if (left <= 0) break;
    const unhealthy = sizeOf(replicaSet) - availableOf(replicaSet);
    if (unhealthy < 0) return changes(sizes);
    const removed = Math.min(left, unhealthy);
    sizes.set(replicaSet, sizeOf(replicaSet) - removed);
    left -= removed;
  }

  let spare = sum([...old, sets.current], availableOf) - needed;
  for (const replicaSet of old) {
    if (spare <= 0) break;
    const size = sizes.get(replicaSet) ?? 0;
    const removed = Math.min(size, spare);
    sizes.set(replicaSet, size - removed);
    spare -= removed;
  }
  return changes(sizes);
}

function changes(sizes: ReadonlyMap<ReplicaSet, number>): Resize[] {
  return [...sizes]
    .filter(([replicaSet, size]) => size !== sizeOf(replicaSet))
    .map(([replicaSet, size]) => ({ replicaSet, size }));
}
