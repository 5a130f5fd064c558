import type { SortedIndex } from './sorted-index.ts';
import type { Entry } from './store.ts';

/** What a key holds instead of its committed state; without `entry`, nothing. */
export interface Override {
  readonly key: string;
  readonly entry: Entry | undefined;
}

/** The range of `base` as it looks with `overrides` (sorted, all under `prefix`) laid over it. */
export function rangeOver(base: SortedIndex<Entry>, prefix: string, overrides: readonly Override[]): Entry[] {
  return layOver(base.range(prefix), overrides);
}

/** Entries with overrides laid over them; both in the order of keys. */
export function layOver(base: Entry[], overrides: readonly Override[]): Entry[] {
  if (overrides.length === 0) return base;
  const merged: Entry[] = [];
  let at = 0;
  for (const { key, entry } of overrides) {
    while (at < base.length && (base[at] as Entry).key < key) merged.push(base[at++] as Entry);
    if (base[at]?.key === key) at++;
    if (entry !== undefined) merged.push(entry);
  }
  while (at < base.length) merged.push(base[at++] as Entry);
  return merged;
}
