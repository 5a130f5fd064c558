import type { Node, Pod } from '../../../api/generated/core-v1.ts';

export type GarbageReason = 'NodeGone' | 'NodeOutOfService' | 'NeverScheduled';

/** How long a node must have been missing before its pods are given up. */
export const QUARANTINE_MS = 40_000;

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/**
 * Decides whether nobody is left to finish a pod off:
 *  1. it is being deleted and was never scheduled
 *  2. its node has been missing for the quarantine time
 *  3. it is being deleted, and its node is not ready and declared out of service
 */
export function decideGarbage(
  { metadata, spec }: Pod,
  node: Node | undefined,
  missingForMs: number,
): GarbageReason | undefined {
  const deleting = Boolean(metadata.deletionTimestamp);
  if (!spec?.nodeName) return deleting ? 'NeverScheduled' : undefined;
  if (node === undefined) return missingForMs >= QUARANTINE_MS ? 'NodeGone' : undefined;
  const ready = node.status?.conditions?.some(({ status, type }) => type === 'Ready' && status === 'True');
  const outOfService = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE);
  return deleting && !ready && outOfService ? 'NodeOutOfService' : undefined;
}

/** The pods over the limit among those that ended: evicted ones first, then the oldest. */
export function terminatedBeyond(pods: readonly Pod[], limit: number): Pod[] {
  const ended = pods.filter(({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
  if (ended.length <= limit) return [];
  const rank = ({ metadata, status }: Pod): string =>
    `${status?.reason === 'Evicted' ? 0 : 1}/${metadata.creationTimestamp ?? ''}/${metadata.name ?? ''}`;
  return ended.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, ended.length - limit);
}
