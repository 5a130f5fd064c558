/** Questions about one pod that every controller asks the same way. */
import { parseTime } from '../../machinery/values/index.ts';
import type { Pod, PodCondition } from '../generated/core-v1.ts';

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

/** Phase Succeeded or Failed: its containers will not run again. */
export function isPodFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** A copy of a static pod that a kubelet runs by itself: deleting it stops nothing. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

/** Neither finished nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !pod.metadata.deletionTimestamp;
}

/** Being deleted while its containers may still run. */
export function isPodTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && Boolean(pod.metadata.deletionTimestamp);
}

export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/**
 * When a Ready pod counts as available: at once without `minReadySeconds`, else that long after it turned Ready.
 * Undefined for a pod that is not Ready, or whose Ready condition does not say since when.
 */
export function podAvailableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  const since = parseTime(ready.lastTransitionTime);
  return since === undefined ? undefined : since + minReadySeconds * 1000;
}

export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const at = podAvailableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** By itself, with its group, or for a Maintenance. */
const EVICTED = new Set(['EvictionByEvictionAPI', 'GroupEviction', 'PlannedMaintenance']);

/** Its eviction was approved, as opposed to a deletion that no budget was asked about. */
export function wasEvicted(pod: Pod): boolean {
  const target = podCondition(pod, 'DisruptionTarget');
  return target?.status === 'True' && EVICTED.has(target.reason ?? '');
}
