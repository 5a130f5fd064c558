import type { ObjectKey } from '../../api/resource.ts';
import type { ControllerContext } from './controller-context.ts';
import { type ReconcileResult, runReconcileLoop } from './reconcile-loop.ts';
import { type Wakes, type Watch, wake } from './watch.ts';
import { WorkQueue } from './work-queue.ts';

/** One work queue of a controller: what feeds it, and what is done with its keys. `D` is what the controller works with. */
export interface Loop<D> {
  /** Name of the queue in metrics and logs. */
  readonly name: string;
  /** Which events wake which keys. Absent: only the controller itself adds keys. */
  readonly watches?: ((deps: D) => readonly Watch[]) | undefined;
  /** Keys to look at once the caches are filled, whatever events come. */
  readonly initial?: ((deps: D) => Wakes) | undefined;
  /** Brings one key in line. Read, ask a decision, write on change, say when to look again; a throw is a retry. */
  readonly reconcile: (deps: D, key: ObjectKey) => Promise<ReconcileResult>;
  /** Keys worked on at once. Default 4; a key is never worked on twice at the same time. */
  readonly workers?: number | undefined;
  /** How long a key waits after a failure: at first (default 5 ms), doubling up to a limit (default 1000 s). */
  readonly backOff?: { readonly baseDelayMs?: number; readonly maxDelayMs?: number } | undefined;
  /** Has to happen before the first pass, beyond the caches being filled. */
  readonly ready?: ((deps: D) => Promise<unknown>) | undefined;
}

/** Work that no event asks for. */
export interface PeriodicPass<D> {
  readonly everyMs: number;
  readonly pass: (deps: D) => Promise<void> | void;
  /** The first pass comes as soon as the caches are filled. Default: after the first period. */
  readonly atStart?: boolean | undefined;
}

/** The queue of the loop that has this name. */
export type QueueOf = (loop: string) => WorkQueue;

/**
 * A controller as data. The loop that has the controller's own name stands in the definition itself; `loops` has those
 * beside it.
 */
export interface ControllerDefinition<D> extends Partial<Loop<D>> {
  readonly name: string;
  /**
   * Gets the controller what it works with: caches, clients, state of its own. No loop starts before every cache that is
   * asked for here or watched is filled.
   */
  readonly deps: (context: ControllerContext, queueOf: QueueOf) => D;
  readonly loops?: readonly Loop<D>[] | undefined;
  readonly passes?: readonly PeriodicPass<D>[] | undefined;
}

/** What a host starts. */
export interface Controller {
  readonly name: string;
  readonly start: (context: ControllerContext) => RunningController;
}

export interface RunningController {
  readonly name: string;
  /** So that tests can see when it is idle. */
  readonly queues: readonly WorkQueue[];
}

export function defineController<D>(definition: ControllerDefinition<D>): Controller {
  return { name: definition.name, start: (context) => startController(definition, context) };
}

function startController<D>(definition: ControllerDefinition<D>, context: ControllerContext): RunningController {
  const { clock, metrics, signal } = context;
  const { loops: others = [], name, passes = [], reconcile } = definition;
  const loops: readonly Loop<D>[] = reconcile === undefined ? others : [{ ...definition, reconcile }, ...others];
  const queues = new Map(
    loops.map((loop) => [loop.name, new WorkQueue({ ...loop.backOff, name: loop.name, clock, metrics })]),
  );
  signal.addEventListener('abort', () => queues.forEach((queue) => queue.close()), { once: true });
  const queueOf: QueueOf = (loop) => {
    const queue = queues.get(loop);
    if (queue === undefined) throw new Error(`Controller "${name}" has no loop "${loop}"`);
    return queue;
  };

  const caches = new Set<Pick<Watch, 'whenSynced'>>();
  const informers: ControllerContext['informers'] = {
    of(type) {
      const informer = context.informers.of(type);
      caches.add(informer);
      return informer;
    },
    finding: (sort, found) => context.informers.finding(sort, found),
  };
  const deps = definition.deps({ ...context, informers }, queueOf);
  for (const loop of loops) {
    for (const watch of loop.watches?.(deps) ?? []) {
      caches.add(watch);
      const unfeed = watch.feed(queueOf(loop.name));
      if (unfeed !== undefined) signal.addEventListener('abort', unfeed, { once: true });
    }
  }
  const filled = Promise.all([context.leading, ...[...caches].map((cache) => cache.whenSynced())]);
  const begin = async (loop: Loop<D>): Promise<void> => {
    const queue = queueOf(loop.name);
    await Promise.all([filled, loop.ready?.(deps)]);
    wake(queue, loop.initial?.(deps));
    const reconcile = (key: ObjectKey): Promise<ReconcileResult> => loop.reconcile(deps, key);
    await runReconcileLoop({ name: loop.name, log: context.log, signal, queue, workers: loop.workers ?? 4, reconcile });
  };
  for (const loop of loops) void begin(loop);
  for (const pass of passes) void filled.then(() => repeat(pass, { deps, context, name }));
  return { name, queues: [...queues.values()] };
}

function repeat<D>(
  { atStart = false, everyMs, pass }: PeriodicPass<D>,
  { context, deps, name }: { deps: D; context: ControllerContext; name: string },
): void {
  const { clock, log, signal } = context;
  let cancel = (): void => {};
  const wait = (): void => {
    if (!signal.aborted) cancel = clock.after(everyMs, () => void run());
  };
  const run = async (): Promise<void> => {
    try {
      await pass(deps);
    } catch (error) {
      if (!signal.aborted) log.warn({ controller: name, error: String(error) }, 'a periodic pass failed');
    }
    wait();
  };
  signal.addEventListener('abort', () => cancel(), { once: true });
  if (atStart) void run();
  else wait();
}
