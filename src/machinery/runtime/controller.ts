import { type ObjectKey, parseKey } from '../../api/resource.ts';
import type { Random } from '../values/index.ts';
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound, isTooManyRequests } from './api-error.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { InformerSet } from './informer-set.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { WorkQueue } from './work-queue.ts';

/** What a pass over one key asks for: nothing more, or another look after a while. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export const settled: ReconcileResult = {};

/** A failure that trying again cannot mend: it is logged once and the key is dropped until its next event. */
export class TerminalError extends Error {
  override name = 'TerminalError';
}

/** Everything a controller may touch. It cannot tell which host it runs on. */
export interface ControllerContext {
  readonly client: Client;
  /** A client that acts as the named component, where the host tells components apart. */
  readonly clientFor: (component: string) => Client;
  readonly informers: InformerSet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Records an Event as coming from the named component. */
  readonly eventsFor: (component: string) => EventRecorder;
  readonly random: Random;
  /** Aborts when the process or plane stops. */
  readonly signal: AbortSignal;
  /** Where several replicas run: resolves when this one may write. Caches fill before that. Absent: at once. */
  readonly leading?: Promise<void> | undefined;
}

/** Starts one controller: registers its watches, returns its queues so that tests can see when it is idle. */
export type StartController = (context: ControllerContext) => RunningController;

export interface RunningController {
  readonly name: string;
  readonly queues: readonly WorkQueue[];
}

export interface ControllerOptions {
  readonly name: string;
  readonly context: ControllerContext;
  readonly reconcile: (key: ObjectKey) => Promise<ReconcileResult>;
  /** Keys worked on at once. Default 4; a key is never worked on twice at the same time. */
  readonly workers?: number | undefined;
  readonly queue?: WorkQueue | undefined;
  /** Resolves when the caches the reconciler reads are filled; no pass runs before. */
  readonly ready?: (() => Promise<void>) | undefined;
}

/** Runs `reconcile` over the keys of a queue. The one place that decides what an outcome means. */
export function runController(options: ControllerOptions): { queue: WorkQueue } {
  const { context, name, workers = 4 } = options;
  const queue = options.queue ?? new WorkQueue({ name, clock: context.clock, metrics: context.metrics });
  context.signal.addEventListener('abort', () => queue.close(), { once: true });
  const work = async (): Promise<void> => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      try {
        classify(queue, key, await options.reconcile(parseKey(key)));
      } catch (error) {
        if (context.signal.aborted) return;
        classifyError(options, queue, { key, error });
      } finally {
        queue.done(key);
      }
    }
  };
  const begin = async (): Promise<void> => {
    await Promise.all([options.ready?.(), context.leading]);
    await Promise.all(Array.from({ length: workers }, work));
  };
  void begin();
  return { queue };
}

function classify(queue: WorkQueue, key: string, { requeueAfterMs }: ReconcileResult): void {
  queue.forget(key);
  if (requeueAfterMs !== undefined) queue.addAfter(key, Math.max(requeueAfterMs, 1));
}

function classifyError(
  { context, name }: ControllerOptions,
  queue: WorkQueue,
  { key, error }: { key: string; error: unknown },
): void {
  if (error instanceof TerminalError) {
    queue.forget(key);
    context.log.error({ controller: name, key, error: error.message }, 'a key cannot be reconciled until it changes');
    return;
  }
  const tries = queue.failures(key) + 1;
  const fields = { controller: name, key, tries, error: error instanceof Error ? error.message : String(error) };
  if (isDefect(error)) context.log.error({ ...fields, stack: error.stack }, 'a controller failed; it tries again');
  else if (!isRoutine(error) && isWorthSaying(tries))
    context.log.warn(fields, 'an object still cannot be brought in line');
  else context.log.debug(fields, 'an object is tried again');
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

/** What no other answer of an API server and no lost connection looks like. */
function isDefect(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

const PATIENCE = 8;

/** Most failures are over after a few tries; one that lasts is told of, and then ever more rarely. */
function isWorthSaying(tries: number): boolean {
  return tries >= PATIENCE && Number.isInteger(Math.log2(tries / PATIENCE));
}
