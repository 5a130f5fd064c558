import { type KubeObject, keyOf } from '../../api/resource.ts';
import type { Informer } from './informer.ts';
import type { WorkQueue } from './work-queue.ts';

/** A key to reconcile, at once or after a delay. */
export type Wake = string | { readonly key: string; readonly afterMs: number };

/** Which keys an event is about. */
export type Wakes = Wake | Iterable<Wake> | undefined | void;

/** How the events of a resource become keys; kinds of events that are left out wake nobody. */
export interface WatchHandlers<T> {
  /** `initial` is true for objects that were there before the watch. */
  readonly added?: (object: T, initial: boolean) => Wakes;
  readonly updated?: (object: T, old: T) => Wakes;
  readonly deleted?: (object: T) => Wakes;
}

/** What can be watched: an informer. */
export type Watchable<T extends KubeObject = KubeObject> = Pick<Informer<T>, 'addHandler' | 'whenSynced'>;

/** A source of keys: a resource, and how its events become keys. */
export interface Watch {
  /** Starts feeding a queue; returns how to stop, where that can be done. */
  readonly feed: (queue: WorkQueue) => (() => void) | undefined;
  readonly whenSynced: () => Promise<void>;
}

/**
 * Watches a resource. `keys` answers which keys an event is about: one function for all events, or one for each kind
 * of event. Default: the key of the object itself.
 */
export function watch<T extends KubeObject>(
  informer: Watchable<T>,
  keys: ((object: T) => Wakes) | WatchHandlers<T> = keyOf,
): Watch {
  const { added, updated, deleted } = typeof keys === 'function' ? onEveryEvent(keys) : keys;
  return {
    whenSynced: () => informer.whenSynced(),
    feed(queue) {
      return informer.addHandler({
        ...(added && { added: (object, initial) => wake(queue, added(object, initial)) }),
        ...(updated && { updated: (object, old) => wake(queue, updated(object, old)) }),
        ...(deleted && { deleted: (object) => wake(queue, deleted(object)) }),
      });
    },
  };
}

function onEveryEvent<T>(keys: (object: T) => Wakes): WatchHandlers<T> {
  return { added: (object) => keys(object), updated: (object) => keys(object), deleted: (object) => keys(object) };
}

/** Adds the keys to a queue. */
export function wake(queue: WorkQueue, wakes: Wakes): void {
  if (wakes === undefined) return;
  if (typeof wakes === 'string') queue.add(wakes);
  else if ('key' in wakes) queue.addAfter(wakes.key, wakes.afterMs);
  else for (const one of wakes) wake(queue, one);
}
