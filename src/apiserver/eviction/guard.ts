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
