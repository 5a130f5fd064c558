import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { replicaSetType } from '../../../api/resource-types.ts';
import { isNotFound } from '../../../machinery/runtime/index.ts';
import { revisionOf } from './annotations.ts';
import { historyLimitOf } from './limits.ts';
import type { Pass } from './pass.ts';
import { compareAge, sizeOf } from './replica-sets.ts';

/** Of the old ReplicaSets beyond the limit, lowest revision first, those that can go: empty and known to be so. */
export function planCleanup(old: readonly ReplicaSet[], limit: number): ReplicaSet[] {
  const kept = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  return kept
    .toSorted(compareRevision)
    .slice(0, Math.max(kept.length - limit, 0))
    .filter(({ metadata, spec, status }) => {
      const observed = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      return (status?.replicas ?? 0) === 0 && sizeOf({ metadata, spec }) === 0 && observed;
    });
}

function compareRevision(a: ReplicaSet, b: ReplicaSet): number {
  const left = revisionOf(a);
  const right = revisionOf(b);
  if (left === undefined || right === undefined || left === right) return compareAge(a, b);
  return left < right ? -1 : 1;
}

export async function cleanUp({ deployment, deps }: Pass, old: readonly ReplicaSet[]): Promise<void> {
  const limit = historyLimitOf(deployment);
  if (limit === undefined) return;
  for (const { metadata } of planCleanup(old, limit)) {
    const { name = '', namespace } = metadata;
    try {
      await deps.context.client.delete(replicaSetType, { name, namespace });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
