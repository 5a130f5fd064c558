import type { EvictionResponder } from '../../api/generated/core-v1.ts';
import type {
  Eviction,
  EvictionRequest,
  EvictionRequestStatus,
  EvictionStatus,
} from '../../api/generated/lifecycle-v1alpha1.ts';
import type { ObjectMeta } from '../../api/generated/meta-v1.ts';

/** The very pod that is to go. */
export interface EvictionTargetRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface TargetPod {
  /** Phase Succeeded or Failed. */
  readonly finished: boolean;
  /** It has a deletionTimestamp. */
  readonly going: boolean;
  readonly responders: readonly EvictionResponder[];
  /** The responder that speaks for its group when that is told before it goes. */
  readonly noticeResponder?: string | undefined;
  /** Why an eviction of it would be in vain: of a DaemonSet, or a static pod. */
  readonly staysBecause?: string | undefined;
}

/** What is so now of one target. */
export interface TargetFacts {
  readonly now: number;
  readonly target: EvictionTargetRef;
  readonly requests: readonly EvictionRequest[];
  /** Evictions of this very pod. */
  readonly evictions: readonly Eviction[];
  /** Names of all Evictions of the namespace that are called as ours are for this pod's name. */
  readonly names: readonly string[];
  /** Undefined: gone, or another pod has its name. */
  readonly pod: TargetPod | undefined;
}

/** What to do next, in this order. */
export interface EvictionPlan {
  /** Made before anything else; what follows from it is decided anew. */
  readonly create?: Eviction | undefined;
  /** Labels and owners of the current Eviction, where they are not right. */
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'ownerReferences'> | undefined;
  readonly statuses: readonly { readonly eviction: Eviction; readonly status: EvictionStatus }[];
  readonly requests: readonly { readonly request: EvictionRequest; readonly status: EvictionRequestStatus }[];
  /** The Eviction that is under way, as it will be. */
  readonly current?: Eviction | undefined;
  /** It is the default responder's turn. */
  readonly evict: boolean;
  /** It is the turn of the responder that speaks for its group: the group is to be told now. */
  readonly notify: boolean;
  /** Something follows from this at once. */
  readonly again: boolean;
  /** When time alone changes something. */
  readonly lookAgainAt?: number | undefined;
}
