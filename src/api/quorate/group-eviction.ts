import type { Condition, ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';
import type { EvictionCause, GroupNotice } from './notice.ts';
import { QUORATE_GROUP } from './types.ts';

/**
 * Asks for a whole group of pods to be evicted: every budget of every member is asked once, and either all members go
 * or none does. Creating it is the request; a refusal is the answer to the create.
 */
export interface GroupEviction {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: GroupEvictionSpec | undefined;
  status?: GroupEvictionStatus | undefined;
}

/** Exactly one of the first four names the group. */
export interface GroupEvictionSpec {
  /** A PodGroup of scheduling.k8s.io. */
  podGroupName?: string | undefined;
  /** One group of a LeaderWorkerSet. */
  leaderWorkerSet?: { name: string; groupIndex: number } | undefined;
  /** Pods with this value under this label, as a PodUnavailableBudget's podGroupPolicy groups them. */
  groupLabel?: { key: string; value: string } | undefined;
  /** A pod on its own, which is a group of one. */
  podName?: string | undefined;
  /** Absent: `Evict`. Withdrawn it stays so; what has not begun to go then stays. */
  intent?: 'Evict' | 'Withdrawn' | undefined;
  /** For people: why the group has to go. */
  reason?: string | undefined;
  /** What asks for it. */
  cause?: EvictionCause | undefined;
  gracePeriodSeconds?: number | undefined;
  /** How long the object is kept once it is finished. */
  ttlSecondsAfterFinished?: number | undefined;
}

export interface GroupEvictionStatus {
  /** Names of the pods that were told to go. */
  evictedPods?: string[] | undefined;
  /** Their UIDs: whoever takes over in the middle tells them from pods that came in their place. */
  evictedPodUIDs?: string[] | undefined;
  /** What the group was told before, where its policy wants that. */
  notice?: GroupNotice | undefined;
  /** Another GroupEviction of the same group, whose notice this one shares to its end. */
  joined?: string | undefined;
  conditions?: Condition[] | undefined;
}

/** True once all members were told to go; False for good when budgets did not agree. */
export const EVICTED = 'Evicted';
/** True once the notice of the group has started. */
export const NOTICED = 'Noticed';
/** False for good where a withdrawal came too late. */
export const WITHDRAWN = 'Withdrawn';

export const groupEvictionType: ResourceType<GroupEviction> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'GroupEviction',
  plural: 'groupevictions',
  namespaced: true,
};
