import type { PodUnavailableBudgetSpec } from '../../api/kruise/types.ts';
import { isLeaderWorkerSetKey } from './groups.ts';

/** Who says how many pods or groups there should be. */
export type ExpectedSource =
  | 'TotalReplicas'
  | 'TargetGroups'
  | 'LeaderWorkerSets'
  | 'SeenGroups'
  | 'TargetScale'
  | 'OwnerScales';

/**
 * Where a budget's expected number comes from. First rule that applies:
 *  1. `protectTotalReplicas`
 *  2. groups of a LeaderWorkerSet named by targetRef: its replicas
 *  3. groups under a LeaderWorkerSet label: the replicas of every set seen on covered pods
 *  4. other groups: those that are seen, which nobody declares
 *  5. pods of a targetRef: its scale
 *  6. pods under a selector: the scale of every distinct owner; an owner without one counts as many as are seen
 */
export function expectedSource({
  podGroupPolicy,
  protectTotalReplicas,
  targetRef,
}: PodUnavailableBudgetSpec): ExpectedSource {
  if (protectTotalReplicas !== undefined) return 'TotalReplicas';
  if (podGroupPolicy !== undefined) {
    if (targetRef?.kind === 'LeaderWorkerSet') return 'TargetGroups';
    return isLeaderWorkerSetKey(podGroupPolicy.groupLabelKey ?? '') ? 'LeaderWorkerSets' : 'SeenGroups';
  }
  return targetRef ? 'TargetScale' : 'OwnerScales';
}
