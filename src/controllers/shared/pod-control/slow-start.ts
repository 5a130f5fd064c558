export interface SlowStartResult {
  readonly successes: number;
  /** Calls never made because an earlier batch failed. */
  readonly skipped: number;
  readonly errors: readonly unknown[];
}

/**
 * Makes `count` calls in batches of 1, 2, 4, ..., those of a batch at once. A batch with a failure is finished and
 * is the last: a quota that refuses one pod is not asked five thousand times.
 */
export async function slowStart(
  count: number,
  call: (index: number) => Promise<unknown>,
  initialBatch = 1,
): Promise<SlowStartResult> {
  const errors: unknown[] = [];
  let successes = 0;
  let done = 0;
  for (let size = Math.min(initialBatch, count); size > 0; size = Math.min(2 * size, count - done)) {
    const batch = Array.from({ length: size }, (_, offset) => call(done + offset));
    for (const outcome of await Promise.allSettled(batch)) {
      if (outcome.status === 'fulfilled') successes += 1;
      else errors.push(outcome.reason);
    }
    done += size;
    if (errors.length > 0) break;
  }
  return { successes, skipped: count - done, errors };
}
