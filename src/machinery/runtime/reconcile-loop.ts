import { type ObjectKey, parseKey } from '../../api/resource.ts';
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound, isTooManyRequests } from './api-error.ts';
import { isDefect, reportDefect } from './defects.ts';
import type { Logger } from './log.ts';
import type { WorkQueue } from './work-queue.ts';

/** What a pass over one key asks for: nothing more, or another look after a while. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export const settled: ReconcileResult = {};

/** A failure that trying again cannot mend: it is logged once and the key is dropped until its next event. */
export class TerminalError extends Error {
  override name = 'TerminalError';
}

export interface ReconcileLoop {
  readonly name: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly queue: WorkQueue;
  readonly reconcile: (key: ObjectKey) => Promise<ReconcileResult>;
  /** Keys worked on at once; a key is never worked on twice at the same time. */
  readonly workers: number;
}

/** Runs `reconcile` over the keys of a queue. The one place that decides what an outcome means. */
export async function runReconcileLoop(loop: ReconcileLoop): Promise<void> {
  const { queue, signal, workers } = loop;
  const work = async (): Promise<void> => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      try {
        classify(queue, key, await loop.reconcile(parseKey(key)));
      } catch (error) {
        if (signal.aborted) return;
        classifyError(loop, key, error);
      } finally {
        queue.done(key);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function classify(queue: WorkQueue, key: string, { requeueAfterMs }: ReconcileResult): void {
  queue.forget(key);
  if (requeueAfterMs !== undefined) queue.addAfter(key, Math.max(requeueAfterMs, 1));
}

function classifyError({ log, name, queue }: ReconcileLoop, key: string, error: unknown): void {
  const fields = { controller: name, key, error: error instanceof Error ? error.message : String(error) };
  if (error instanceof TerminalError) {
    queue.forget(key);
    log.error(fields, 'reconcile failed; not retried until the object changes');
    return;
  }
  reportDefect(error);
  const tries = queue.failures(key) + 1;
  if (isDefect(error))
    log.error({ ...fields, tries, stack: error.stack }, 'reconcile failed with an unexpected error; retrying');
  else if (!isRoutine(error) && isWorthSaying(tries))
    log.warn({ ...fields, tries }, 'reconcile keeps failing; retrying');
  else log.debug({ ...fields, tries }, 'reconcile failed; retrying');
  queue.addRateLimited(key);
}

/** Stale reads and refusals that pass mend themselves with the next event; they are no news. */
function isRoutine(error: unknown): boolean {
  return (
    isConflict(error) ||
    isNotFound(error) ||
    isAlreadyExists(error) ||
    isTooManyRequests(error) ||
    isNamespaceTerminating(error)
  );
}

const PATIENCE = 8;

/** Most failures are over after a few tries; one that lasts is told of, and then ever more rarely. */
function isWorthSaying(tries: number): boolean {
  return tries >= PATIENCE && Number.isInteger(Math.log2(tries / PATIENCE));
}
