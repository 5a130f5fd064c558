import type { Transaction } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { ApiError } from '../exchange/status.ts';
import type { UserInfo } from '../exchange/user.ts';

/** A pod on its way out, as a guard sees it. */
export interface GuardedEviction {
  readonly namespace: string;
  readonly name: string;
  /** The pod's newest state without its managed fields; shared, so never change it. */
  readonly pod: ApiObject;
  readonly now: number;
  readonly dryRun: boolean;
  readonly user: UserInfo;
}

export type GuardVerdict =
  | {
      readonly allowed: true;
      /** Records the eviction. Called in the same transaction, and only when every other guard has granted too. */
      charge?(transaction: Transaction): void;
    }
  | { readonly allowed: false; readonly refusal: ApiError };

/** A further budget that evictions are asked of. Judging writes nothing. */
export interface EvictionGuard {
  readonly name: string;
  judge(eviction: GuardedEviction, transaction: Transaction): GuardVerdict;
}

/** An eviction that all budgets and limits have agreed to. */
export interface AgreedEviction extends GuardedEviction {
  readonly gracePeriodSeconds: number | undefined;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
}

/**
 * Asked last: whether the pod's group has to be told before it goes. What it answers is the answer to the eviction, and
 * what it has written stays written.
 */
export type AskNotice = (eviction: AgreedEviction, transaction: Transaction) => ApiError | undefined;

/**
 * A member of a group that may only be disrupted together: the others go with it, in the same transaction, or everybody stays
 * and the answer is thrown. `told` is the answer where they are told first. Undefined: it goes like any other.
 */
export type EvictAsOne = (
  eviction: AgreedEviction,
  transaction: Transaction,
) => { readonly told?: ApiError } | undefined;
