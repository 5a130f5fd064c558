import type { Pod } from '../../../api/generated/core-v1.ts';
import { finishedAt } from './pod-facts.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;

/** How a Job's pods have fared lately. */
export interface FailureRecord {
  readonly failuresSinceSuccess: number;
  readonly lastFailureAt: number;
}

export const noFailures: FailureRecord = { failuresSinceSuccess: 0, lastFailureAt: 0 };

/** The record after these pods ended: a success forgets the failures before it. */
export function recordOutcomes(
  before: FailureRecord,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): FailureRecord {
  const successAt = Math.max(0, ...succeeded.map(finishedAt));
  const later = failed.map(finishedAt).filter((at) => at > successAt);
  const start = succeeded.length > 0 ? noFailures : before;
  return later.length === 0
    ? start
    : {
        failuresSinceSuccess: start.failuresSinceSuccess + later.length,
        lastFailureAt: Math.max(start.lastFailureAt, ...later),
      };
}

/** How long new pods must still wait: 10 s after the first failure, doubling to 10 min. */
export function remainingMs({ failuresSinceSuccess, lastFailureAt }: FailureRecord, now: number): number {
  if (failuresSinceSuccess === 0) return 0;
  const delay = Math.min(FIRST_MS * 2 ** Math.min(failuresSinceSuccess - 1, 20), LONGEST_MS);
  return Math.max(lastFailureAt + delay - now, 0);
}
