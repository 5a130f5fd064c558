import type { PodRecord } from './records.ts';

/** Pods that name a group, found by what they name: one group that changes must not cost a look at all of them. */
export class LinkedPods<P extends PodRecord> {
  readonly #byPodGroup = new Map<string, Set<P>>();
  readonly #byWorkload = new Map<string, Set<P>>();

  add(record: P): void {
    const { link } = record.facts;
    if (link === undefined) return;
    // Most pods name one of the two.
    if (link.podGroup !== '') join(this.#byPodGroup, link.podGroup, record);
    if (link.workload !== '') join(this.#byWorkload, link.workload, record);
  }

  /** With the facts it was added with. */
  delete(record: P): void {
    const { link } = record.facts;
    if (link === undefined) return;
    leave(this.#byPodGroup, link.podGroup, record);
    leave(this.#byWorkload, link.workload, record);
  }

  ofPodGroup(name: string): Iterable<P> {
    return this.#byPodGroup.get(name) ?? [];
  }

  /** Pods that name the Workload themselves. */
  ofWorkload(name: string): Iterable<P> {
    return this.#byWorkload.get(name) ?? [];
  }
}

/** Adds to one of many sets. */
export function join<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

/** Takes from one of many sets; a set that empties goes. */
export function leave<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  if (set?.delete(value) === true && set.size === 0) sets.delete(key);
}
