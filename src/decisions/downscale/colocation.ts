import { isPodActive } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { Ranks } from './rank.ts';

/**
 * Counts related pods per node, so that downscaling thins out crowded nodes first. Related pods are those that the
 * ReplicaSets of the same controller owner select; a ReplicaSet without such an owner has none.
 */
export function rankByColocation(related: Iterable<Pod>): Ranks {
  const perNode = new Map<string, number>();
  const seen = new Set<string>();
  for (const pod of related) {
    const uid = pod.metadata.uid ?? '';
    if (seen.has(uid)) continue;
    seen.add(uid);
    if (!isPodActive(pod)) continue;
    const node = pod.spec?.nodeName ?? '';
    perNode.set(node, (perNode.get(node) ?? 0) + 1);
  }
  return { by: 'Colocation', perNode };
}
