import type { Deliver, StoreEvent } from './store.ts';

interface Watcher {
  /** Revision of the newest event this watcher has been handed or has declined. */
  seen: number;
  readonly deliver: Deliver;
}

/**
 * Hands each flush's events to the watchers of their prefixes. An event finds its watchers by looking up each of its
 * path prefixes ("/a/", "/a/b/", ...), so the cost does not grow with the number of watchers elsewhere.
 */
export class WatchHub {
  readonly #byPrefix = new Map<string, Set<Watcher>>();
  /** Watched prefixes that do not end at a path segment; these are compared one by one. */
  readonly #irregular = new Set<string>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(prefix: string, seen: number, deliver: Deliver): () => void {
    const watcher: Watcher = { seen, deliver };
    const group = this.#byPrefix.get(prefix) ?? new Set();
    this.#byPrefix.set(prefix, group.add(watcher));
    if (prefix !== '' && !prefix.endsWith('/')) this.#irregular.add(prefix);
    return () => {
      group.delete(watcher);
      if (group.size > 0 || this.#byPrefix.get(prefix) !== group) return;
      this.#byPrefix.delete(prefix);
      this.#irregular.delete(prefix);
    };
  }

  publish(events: readonly StoreEvent[]): void {
    for (const [group, matching] of this.#route(events)) {
      const last = (matching[matching.length - 1] as StoreEvent).revision;
      // A delivery may end watches of this group or start new ones; a new one has already seen all of this.
      for (const watcher of group) {
        if (watcher.seen >= last) continue;
        const fresh = (matching[0] as StoreEvent).revision > watcher.seen;
        const batch = fresh ? matching : matching.filter(({ revision }) => revision > watcher.seen);
        watcher.seen = last;
        this.#hand(watcher, group, batch);
      }
    }
  }

  clear(): void {
    for (const group of this.#byPrefix.values()) group.clear();
    this.#byPrefix.clear();
    this.#irregular.clear();
  }

  #route(events: readonly StoreEvent[]): Map<Set<Watcher>, StoreEvent[]> {
    const routed = new Map<Set<Watcher>, StoreEvent[]>();
    const send = (prefix: string, event: StoreEvent) => {
      const group = this.#byPrefix.get(prefix);
      if (group === undefined) return;
      const matching = routed.get(group);
      if (matching === undefined) routed.set(group, [event]);
      else matching.push(event);
    };
    for (const event of events) {
      send('', event);
      for (let slash = event.key.indexOf('/'); slash !== -1; slash = event.key.indexOf('/', slash + 1)) {
        send(event.key.slice(0, slash + 1), event);
      }
      for (const prefix of this.#irregular) if (event.key.startsWith(prefix)) send(prefix, event);
    }
    return routed;
  }

  #hand(watcher: Watcher, group: Set<Watcher>, batch: readonly StoreEvent[]): void {
    try {
      watcher.deliver(batch);
    } catch (error) {
      // One broken watcher must not cost the others their events; it has lost its place, so it ends.
      group.delete(watcher);
      this.#onError(error);
    }
  }
}
