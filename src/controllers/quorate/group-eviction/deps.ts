import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction } from '../../../api/generated/lifecycle-v1alpha1.ts';
import type { GroupEviction, GroupEvictionSpec } from '../../../api/quorate/group-eviction.ts';
import type { GroupNotice } from '../../../api/quorate/notice.ts';
import type { Client, Clock, EventRecorder, Informer } from '../../../machinery/runtime/index.ts';
import type { Channels } from './channels.ts';

/** The members, all recorded with their budgets, or why there is nothing to do. */
export type SettledGroup =
  | { readonly granted: true; readonly members: readonly { readonly name: string; readonly uid: string }[] }
  | { readonly granted: false; readonly reason: 'Refused' | 'NoMembers'; readonly message: string };

/** Asks the budgets once more. What was recorded when the request was granted costs nothing again. */
export type SettleGroup = (namespace: string, spec: GroupEvictionSpec) => Promise<SettledGroup>;

/** What a host does for notices where they are not begun and ended in the transactions of the API server. */
/** What comes of a GroupEviction before its group goes. */
export type NoticeBegun =
  /** It is told first, from now on. */
  | GroupNotice
  /** It is told already, for another GroupEviction. */
  | { readonly joined: string; readonly deadline: string }
  | { readonly refused: Pick<Extract<SettledGroup, { granted: false }>, 'message' | 'reason'> };

export interface NoticeHost {
  /** Undefined: no policy wants the group to be told. */
  readonly begin: (eviction: GroupEviction) => Promise<NoticeBegun | undefined>;
  /** What was kept for the group begins to go, or is given back. */
  readonly end: (eviction: GroupEviction, notice: GroupNotice, begins: boolean) => Promise<void>;
}

/** What one process knows of a notice beside what is written. */
export interface NoticeMemory {
  /** Its deadline as elapsed time: what was left by the clock when it was first seen, and counted from then on. */
  readonly endsAt: number;
  /** Since when budgets hold it, as elapsed time. */
  heldFrom?: number | undefined;
  /** Budgets that hold it are not asked before. */
  askAgainAt?: number | undefined;
}

export interface GroupEvictionDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly evictions: Informer<GroupEviction>;
  /** Of lifecycle.k8s.io; absent where members cannot be told by them. */
  readonly evictionsOfPods: Informer<Eviction> | undefined;
  readonly pods: Informer<Pod>;
  readonly settle: SettleGroup | undefined;
  readonly notices: NoticeHost | undefined;
  readonly channels: Channels;
  /** By the ID of the notice. */
  readonly memories: Map<string, NoticeMemory>;
  /** Told how long a notice took, and how it ended. */
  readonly measured: (state: string, seconds: number) => void;
}

/** GroupEvictions with a notice under way, by namespace. */
export const RUNNING = 'group-eviction-notice';
/** GroupEvictions that share the notice of another, by its namespace and name. */
export const JOINED = 'group-eviction-joined';
