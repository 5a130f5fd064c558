import type { Node, Taint } from '../../../api/generated/core-v1.ts';
import { formatTime } from '../../../machinery/values/index.ts';

export const NOT_READY = 'node.kubernetes.io/not-ready';
export const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Condition type, its status, and the key of the NoSchedule taint that mirrors it. */
const CONDITION_TAINTS = [
  ['Ready', 'False', NOT_READY],
  ['Ready', 'Unknown', UNREACHABLE],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
] as const;

const MIRRORED = new Set<string>([...CONDITION_TAINTS.map(([, , key]) => key), UNSCHEDULABLE]);

const isEvicting = ({ effect, key }: Taint): boolean =>
  effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE);

/** The NoExecute taint that stands for a node's Ready condition; undefined while it is ready or says nothing. */
export function evictingTaintKey(node: Node): string | undefined {
  const status = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (status === 'False') return NOT_READY;
  return status === 'Unknown' ? UNREACHABLE : undefined;
}

export function hasEvictingTaint({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(isEvicting);
}

/**
 * The taints a node should have, or undefined when it has them:
 *  1. NoSchedule taints mirror conditions and `spec.unschedulable`
 *  2. the evicting taint of a ready node goes; of one that is not, it follows the condition from the one key to the
 *     other, but is first put on only when `evict` says so, because that is rate limited
 *  3. all other taints stay as they are, in their order
 */
export function wantedTaints(node: Node, { evict, now }: { evict: boolean; now: number }): Taint[] | undefined {
  const current = node.spec?.taints ?? [];
  const evictingKey = evictingTaintKey(node);
  const timeAdded = formatTime(now);
  const wanted: Taint[] = [];
  for (const [type, status, key] of CONDITION_TAINTS) {
    if (node.status?.conditions?.some((condition) => condition.type === type && condition.status === status)) {
      wanted.push({ key, effect: 'NoSchedule', timeAdded });
    }
  }
  if (node.spec?.unschedulable) wanted.push({ key: UNSCHEDULABLE, effect: 'NoSchedule', timeAdded });
  if (evictingKey !== undefined && (evict || hasEvictingTaint(node))) {
    wanted.push({ key: evictingKey, effect: 'NoExecute', timeAdded });
  }

  const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;
  const isOurs = (taint: Taint): boolean =>
    isEvicting(taint) || (taint.effect === 'NoSchedule' && MIRRORED.has(taint.key));
  const kept = current.filter((taint) => !isOurs(taint) || wanted.some((other) => isSame(taint, other)));
  const added = wanted.filter((taint) => !current.some((other) => isSame(taint, other)));
  return kept.length === current.length && added.length === 0 ? undefined : [...kept, ...added];
}
