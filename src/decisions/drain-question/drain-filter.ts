import { isMirrorPod } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';

/** Which pods a drain may take; the names are those of kubectl's flags. */
export interface DrainRules {
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  /** Leaves pods alone that have been terminating for longer; 0 takes them all. */
  readonly skipWaitForDeleteTimeoutSeconds: number;
}

export interface FilterContext {
  readonly rules: DrainRules;
  readonly daemonSetExists: (namespace: string, name: string) => boolean;
  readonly now: number;
}

export type FilterReason =
  | 'Evictable'
  | 'TerminatingForLong'
  | 'DaemonSetManaged'
  | 'DaemonSetMissing'
  | 'MirrorPod'
  | 'LocalStorage'
  | 'NoController';

export interface FilterVerdict {
  readonly take: 'yes' | 'no' | 'refused';
  readonly reason: FilterReason;
  /** What to tell the person: why it is left, refused, or taken all the same. */
  readonly text?: string;
}

const yes: FilterVerdict = { take: 'yes', reason: 'Evictable' };

/**
 * Decides whether a drain takes a pod, as kubectl drain does. In order: terminating for long, DaemonSet, mirror pod,
 * emptyDir volume, no controller. The first that leaves the pod or refuses ends it; a warning goes on to the next.
 */
export function filterPod(pod: Pod, { daemonSetExists, now, rules }: FilterContext): FilterVerdict {
  const { metadata, spec, status } = pod;
  const finished = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  let verdict = yes;

  const limit = rules.skipWaitForDeleteTimeoutSeconds;
  const deleted = parseTime(metadata.deletionTimestamp);
  if (limit > 0 && deleted !== undefined && now - deleted > limit * 1000) {
    return { take: 'no', reason: 'TerminatingForLong', text: 'has been terminating for long' };
  }
  if (owner?.kind === 'DaemonSet' && !finished) {
    if (!daemonSetExists(metadata.namespace ?? '', owner.name)) {
      if (!rules.force) return refused('DaemonSetMissing', 'its DaemonSet is gone (use --force to take it)');
      verdict = { take: 'yes', reason: 'DaemonSetMissing', text: 'its DaemonSet is gone' };
    } else if (rules.ignoreDaemonSets) {
      return { take: 'no', reason: 'DaemonSetManaged', text: 'is managed by a DaemonSet' };
    } else return refused('DaemonSetManaged', 'is managed by a DaemonSet (use --ignore-daemonsets to leave it)');
  }
  if (isMirrorPod(pod)) return { take: 'no', reason: 'MirrorPod' };
  if (!finished && spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined)) {
    if (!rules.deleteEmptyDirData) {
      return refused('LocalStorage', 'has local storage (use --delete-emptydir-data to take it)');
    }
    verdict = { take: 'yes', reason: 'LocalStorage', text: 'loses its local storage' };
  }
  if (!finished && owner === undefined) {
    if (!rules.force)
      return refused('NoController', 'has no controller and will not come back (use --force to take it)');
    verdict = { take: 'yes', reason: 'NoController', text: 'has no controller and will not come back' };
  }
  return verdict;
}

const refused = (reason: FilterReason, text: string): FilterVerdict => ({ take: 'refused', reason, text });
