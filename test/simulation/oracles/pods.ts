/** What oracles read in stored pods, by the words of the API alone. */
import type { Commit, StoredObject } from '../history.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

const conditionsOf = (pod: StoredObject): readonly Condition[] => (pod.status?.conditions ?? []) as Condition[];

export const isReady = (pod: StoredObject): boolean =>
  conditionsOf(pod).some(({ status, type }) => type === 'Ready' && status === 'True');

export const isLeaving = (pod: StoredObject): boolean => pod.metadata.deletionTimestamp !== undefined;

export const isFinished = (pod: StoredObject): boolean => ['Succeeded', 'Failed'].includes(pod.status?.phase);

export const nodeOf = (pod: StoredObject): string | undefined => pod.spec?.nodeName || undefined;

export const groupOf = (pod: StoredObject): string | undefined => pod.spec?.schedulingGroup?.podGroupName;

/** By itself, or with its group. */
const EVICTED = ['EvictionByEvictionAPI', 'GroupEviction'];

const isMarked = (pod: StoredObject | undefined): boolean =>
  pod !== undefined &&
  conditionsOf(pod).some(({ reason, type }) => type === 'DisruptionTarget' && EVICTED.includes(reason ?? ''));

/** The pods that were there and not leaving, and that an eviction took in this commit. */
export function evictedIn(commit: Commit): StoredObject[] {
  const evicted: StoredObject[] = [];
  for (const { after, before, key } of commit) {
    if (!key.startsWith('/registry/core/pods/') || before === undefined || isLeaving(before)) continue;
    if (after !== undefined && isLeaving(after) && isMarked(after) && !isMarked(before)) evicted.push(after);
  }
  return evicted;
}
