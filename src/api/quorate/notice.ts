import type { NoticeTerms } from './disruption-policy.ts';

/** The notice that a group is given before it goes; it lives in the status of a GroupEviction. */
export interface GroupNotice {
  /** Tells it from every other notice: what acknowledges it says this. */
  id: string;
  /** The group as policies name it, such as `PodGroup/trainer-0`. */
  group: string;
  /** The DisruptionPolicy whose terms it started with. */
  policy: string;
  /** Exact: with microseconds, like `deadline`. */
  startedAt: string;
  deadline: string;
  state: NoticeState;
  members?: NoticeMember[] | undefined;
  requesters?: NoticeRequester[] | undefined;
  /** As they were when it started: what becomes of the policy changes nothing. */
  terms: NoticeTerms;
  /** Since when budgets do not let the group go that was told. */
  heldSince?: string | undefined;
}

/**
 * `Done`: acknowledged. `TimedOut`: the time has passed. `Undelivered`: nobody could be told. `Superseded`: no member is
 * left. `Held`: told, and budgets do not let it go now.
 */
export const NOTICE_STATES = ['Running', 'Done', 'TimedOut', 'Withdrawn', 'Undelivered', 'Superseded', 'Held'] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** `Excused`: told and not waited for, as it was not up when the notice started. `Gone` counts as done. */
export const MEMBER_STATES = ['Told', 'Untold', 'Acknowledged', 'Excused', 'Gone'] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

export interface NoticeMember {
  name: string;
  uid: string;
  state: MemberState;
  /** Since when. */
  at?: string | undefined;
  /** By which way it was told, or acknowledged. */
  via?: string | undefined;
  message?: string | undefined;
}

/** A GroupEviction that wants the group gone. */
export interface NoticeRequester {
  name: string;
  withdrawn?: boolean | undefined;
}

/** What asked for a group to go: a kind and the name of one. */
export interface EvictionCause {
  kind: string;
  name: string;
}

/** What each member finds on its pod, as JSON. */
export interface NoticeAnnotation {
  id: string;
  group: string;
  deadline: string;
  reason: string;
  cause?: EvictionCause | undefined;
  leader?: string | undefined;
}

export const NOTICE_ANNOTATION = 'policy.quorate.dev/notice';
/** Its value is the ID of the notice; anybody may set it who may patch the pod. */
export const NOTICE_ACKNOWLEDGED_ANNOTATION = 'policy.quorate.dev/notice-acknowledged';
export const NOTICE_CONDITION = 'quorate.dev/DisruptionNotice';
/** True, with the ID of the notice as message. */
export const NOTICE_ACKNOWLEDGED_CONDITION = 'quorate.dev/NoticeAcknowledged';
/** True on pods that go for a Maintenance: failure policies of Jobs tell by it that nothing failed. */
export const MAINTENANCE_CONDITION = 'quorate.dev/Maintenance';
/** Marks the pod that speaks for its group where the kind of the group does not say which one does. */
export const LEADER_LABEL = 'policy.quorate.dev/leader';
export const NOTICE_FINALIZER = 'policy.quorate.dev/notice';
/** Who asks, in EvictionRequests by which members are told: the notice itself, and nobody who wants the pod gone. */
export const NOTICE_REQUESTER = 'quorate.dev/notice';
/** What has made a GroupEviction: `eviction`, a plain one of a member, or `eviction-request`. */
export const ORIGIN_LABEL = 'policy.quorate.dev/origin';
