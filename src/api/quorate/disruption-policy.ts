import type { HTTPPodPickerHeader } from '../generated/apps-v1.ts';
import type { Condition, LabelSelector, ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';
import { QUORATE_GROUP } from './types.ts';
import type { Window } from './window.ts';

/**
 * What is asked beside budgets before a group is disrupted: how often and when that may happen, and how the group is
 * told before. It speaks for groups of its namespace.
 */
export interface DisruptionPolicy {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: DisruptionPolicySpec | undefined;
  status?: DisruptionPolicyStatus | undefined;
}

/** Exactly one of `selector` and `targetRef`, and at least one of `notice` and `limits`. */
export interface DisruptionPolicySpec {
  /** Pods; a group is selected when one member that is not finished matches. Empty: all groups of the namespace. */
  selector?: LabelSelector | undefined;
  targetRef?: PolicyTargetRef | undefined;
  notice?: NoticeTerms | undefined;
  limits?: DisruptionLimits | undefined;
}

/** Whose groups are meant. The object need not exist. */
export interface PolicyTargetRef {
  apiVersion?: string | undefined;
  kind: string;
  name: string;
}

/** How a group is told before it goes, and how long it has. */
export interface NoticeTerms {
  duration: string;
  /** None: the members are told by their pods. */
  channels?: NoticeChannel[] | undefined;
  acknowledgement?: NoticeAcknowledgement | undefined;
  /** What happens when nobody could be told. */
  onUndelivered?: 'Proceed' | 'Refuse' | undefined;
}

export interface NoticeChannel {
  type: 'Pod' | 'HTTP' | 'EvictionRequest';
  http?: NoticeHttp | undefined;
}

export interface NoticeHttp {
  scheme?: 'HTTPS' | 'HTTP' | undefined;
  /** Absent where each member is called, at its own address. */
  host?: string | undefined;
  port: number | string;
  path?: string | undefined;
  to?: 'Group' | 'EachMember' | undefined;
  timeoutSeconds?: number | undefined;
  pollSeconds?: number | undefined;
  /** The name in the certificate. */
  serverName?: string | undefined;
  httpHeaders?: HTTPPodPickerHeader[] | undefined;
}

export interface NoticeAcknowledgement {
  from?: 'AllMembers' | 'Leader' | 'Responder' | 'Nobody' | undefined;
  /** The key of the responder that speaks for the group, such as `checkpoints.example.com/saver`. */
  responder?: string | undefined;
}

/** Budgets over time. Every limit binds. */
export interface DisruptionLimits {
  maxDisruptions?: DisruptionRate[] | undefined;
  /** No group twice within it. */
  minInterval?: string | undefined;
  settle?: SettleTimes | undefined;
  /** None: at any time. */
  windows?: Window[] | undefined;
  /** Per group, over the last 24 hours. */
  maxDisruptionSecondsPerDay?: number | undefined;
  /** What count, interval and seconds count; settling counts all. */
  counts?: 'Voluntary' | 'All' | undefined;
}

/** At most `count` disruptions of the policy's groups within `per`. */
export interface DisruptionRate {
  count: number;
  per: string;
}

/** How long a group is left alone after it became whole. */
export interface SettleTimes {
  afterRecovery?: string | undefined;
  afterStart?: string | undefined;
}

export interface DisruptionPolicyStatus {
  observedGeneration?: number | undefined;
  selectedGroups?: number | undefined;
  /** Since when disruptions are counted. */
  since?: string | undefined;
  allowedNow?: boolean | undefined;
  nextAllowed?: string | undefined;
  conditions?: Condition[] | undefined;
  ledger?: PolicyLedgerGroup[] | undefined;
  /** What `kubectl get` shows. */
  summary?: { notice?: string | undefined; limits?: string | undefined; allowed?: string | undefined } | undefined;
}

/** What is known of one group, by the name of its unit: all that limits are judged by. */
export interface PolicyLedgerGroup {
  group: string;
  firstWholeAt?: string | undefined;
  wholeAt?: string | undefined;
  downSince?: string | undefined;
  disruptions?: LedgerDisruption[] | undefined;
  /** Stretches of the last 24 hours in which it was down. */
  down?: LedgerOutage[] | undefined;
  /** Pods that were let go and may still look as if they stayed. */
  going?: LedgerDeparture[] | undefined;
}

export interface LedgerDisruption {
  /** Exact: with microseconds. */
  at: string;
  by?: string | undefined;
  way: string;
  state: 'Reserved' | 'Gone';
  /** It came by no eviction, preemption or judged delete. */
  involuntary?: boolean | undefined;
  /** Reserved for a group that is given notice: until its deadline. */
  until?: string | undefined;
  /** The ID of that notice. */
  notice?: string | undefined;
}

export interface LedgerOutage {
  from: string;
  to: string;
  voluntary: boolean;
}

export interface LedgerDeparture {
  pod: string;
  uid: string;
  at: string;
}

export const disruptionPolicyType: ResourceType<DisruptionPolicy> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'DisruptionPolicy',
  plural: 'disruptionpolicies',
  namespaced: true,
};
