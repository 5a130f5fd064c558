import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { parseTime } from '../../../machinery/values/index.ts';

export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** Undefined when the pod carries none. */
export function completionIndex({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[INDEX_ANNOTATION];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

const count = ({ metadata }: Pod, annotation: string): number => {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
};

export const indexFailures = (pod: Pod): number => count(pod, INDEX_FAILURES);
export const indexIgnoredFailures = (pod: Pod): number => count(pod, INDEX_IGNORED_FAILURES);

/** Pods are replaced only once they have ended, not as soon as they are being deleted. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

export function isFailed(job: Job, { metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed') return true;
  if (replacesOnlyFailed(job)) return false;
  return Boolean(metadata.deletionTimestamp) && status?.phase !== 'Succeeded';
}

/** When the pod ended: its last container, else when it turned unready, else when it was told to go. */
export function finishedAt({ metadata, status }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  if (ends.length > 0 && ends.every((end) => end !== undefined)) return Math.max(...ends);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const unreadyAt = ready?.status === 'False' ? parseTime(ready.lastTransitionTime) : undefined;
  if (unreadyAt !== undefined) return unreadyAt;
  const deletedAt = parseTime(metadata.deletionTimestamp);
  if (deletedAt !== undefined) return deletedAt - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return parseTime(metadata.creationTimestamp) ?? 0;
}

const PHASES = ['Pending', 'Unknown', 'Running'];

/**
 * The order in which running pods are given up, first to go first: unassigned, then by phase, then unready, then ready
 * for less time, then more restarts, then younger.
 */
export function byWorth(a: Pod, b: Pod): number {
  const ready = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready');
  const readySince = (pod: Pod): number =>
    ready(pod)?.status === 'True' ? (parseTime(ready(pod)?.lastTransitionTime) ?? 0) : 0;
  const restarts = ({ status }: Pod): number =>
    Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
  const keys: readonly ((pod: Pod) => number)[] = [
    ({ spec }) => (spec?.nodeName ? 1 : 0),
    ({ status }) => PHASES.indexOf(status?.phase ?? 'Pending'),
    (pod) => (ready(pod)?.status === 'True' ? 1 : 0),
    (pod) => -readySince(pod),
    (pod) => -restarts(pod),
    ({ metadata }) => -(parseTime(metadata.creationTimestamp) ?? 0),
  ];
  for (const key of keys) {
    const difference = key(a) - key(b);
    if (difference !== 0) return difference;
  }
  return 0;
}
