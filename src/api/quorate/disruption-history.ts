import type { ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';
import { QUORATE_GROUP } from './types.ts';

/**
 * A part of the record of disruptions: what one writer entered on one day in one namespace. Written by Quorate only, never
 * in the path of an eviction.
 */
export interface DisruptionHistory {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: DisruptionHistorySpec | undefined;
}

export interface DisruptionHistorySpec {
  /** `leader` for what went, or the replica whose refusals these are. */
  writer: string;
  entries?: HistoryEntry[] | undefined;
  /** How far the leader has followed the pods of the cluster: its successor goes on from there. */
  reached?: HistoryReached | undefined;
  /** Times that nobody could look back on: pods that went in them may be missing. */
  gaps?: { from: string; to: string }[] | undefined;
  /** Departures that a replica let pass in the last minutes: the leader reads from them who asked. */
  answered?: HandedOver[] | undefined;
}

export interface HistoryReached {
  /** The version of the pods. */
  pods: string;
  at: string;
  /** How many pods there were, and a sum over their uids: with the same one, none has gone since. */
  census: string;
}

/** What a replica answered, for the leader. */
export interface HandedOver {
  at: string;
  kind: 'Eviction' | 'GroupEviction' | 'Delete';
  namespace: string;
  /** A pod, or KIND/NAME of a group. */
  pod?: { name: string; uid: string } | undefined;
  group?: string | undefined;
  who: string;
  judged?: boolean | undefined;
}

export const HISTORY_OUTCOMES = ['Granted', 'Refused', 'Withdrawn', 'Seen', 'Expired'] as const;
export type HistoryOutcome = (typeof HISTORY_OUTCOMES)[number];

export const HISTORY_WAYS = [
  'Eviction',
  'GroupEviction',
  'EvictionRequest',
  'Maintenance',
  'Delete',
  'Preemption',
  'TaintManager',
  'DeviceTaint',
  'PodGC',
  'NodeGone',
  'Kubelet',
  'Unknown',
] as const;
export type HistoryWay = (typeof HISTORY_WAYS)[number];

export const HISTORY_ENDS = ['Whole', 'Removed', 'Open'] as const;
export type HistoryEnd = (typeof HISTORY_ENDS)[number];

/** One disruption, or one refusal. Times are exact: they have microseconds. */
export interface HistoryEntry {
  /** Sorts by time. */
  id: string;
  /** When it was asked for or seen. */
  at: string;
  outcome: HistoryOutcome;
  way: HistoryWay;
  /** An eviction of any kind, a preemption, or a delete that a PodUnavailableBudget judged. */
  voluntary: boolean;
  who?: string | undefined;
  userAgent?: string | undefined;
  /** What was behind it: a Maintenance, or a node and who drains it. */
  cause?: { kind: string; name: string; reason?: string | undefined } | undefined;
  namespace: string;
  /** NAMESPACE/KIND/NAME. */
  group: string;
  /** What made the pods, as KIND/NAME. */
  owner?: string | undefined;
  /** At most 64 of them. */
  pods: HistoryPod[];
  podsTotal: number;
  /** Those that were asked. */
  budgets?: string[] | undefined;
  policies?: string[] | undefined;
  /** Of a refusal its first cause. */
  reason?: string | undefined;
  message?: string | undefined;
  /** How often the same was refused, and when last. */
  repeats?: number | undefined;
  lastAt?: string | undefined;
  noticedAt?: string | undefined;
  acknowledgedAt?: string | undefined;
  /** The last of its pods was gone. */
  goneAt?: string | undefined;
  /** The group had less than its minimum, and was whole again. */
  downAt?: string | undefined;
  wholeAt?: string | undefined;
  groupSeconds?: number | undefined;
  podSeconds?: number | undefined;
  end?: HistoryEnd | undefined;
  /** The entry that took the group down before. */
  during?: string | undefined;
}

export interface HistoryPod {
  name: string;
  uid: string;
  node?: string | undefined;
}

export const HISTORY_LIMITS = { entries: 200, bytes: 256 * 1024, pods: 64 } as const;

/** Says which of the two sorts of objects of a writer that are no days of the record this is. */
export const HISTORY_PART_LABEL = 'policy.quorate.dev/history-part';

export const disruptionHistoryType: ResourceType<DisruptionHistory> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'DisruptionHistory',
  plural: 'disruptionhistories',
  namespaced: true,
};
