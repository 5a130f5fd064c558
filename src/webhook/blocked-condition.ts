import type { Condition } from '../api/generated/meta-v1.ts';

/** On a ledger: evictions under its budget have been refused for a while, and none was granted. */
export const DRAIN_BLOCKED = 'DrainBlocked';

/** The conditions of a ledger under which something was granted. */
export function unblocked(conditions: readonly Condition[] | undefined, grantedAt: string): Condition[] | undefined {
  return conditions?.map((one) =>
    one.type === DRAIN_BLOCKED && one.status === 'True' && one.lastTransitionTime < grantedAt
      ? { ...one, status: 'False', reason: 'Granted', message: '', lastTransitionTime: wholeSeconds(grantedAt) }
      : one,
  );
}

/** As Kubernetes writes times. */
export const wholeSeconds = (at: string): string => `${at.slice(0, 19)}Z`;
