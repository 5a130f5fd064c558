import type { SortedIndex } from './sorted-index.ts';
import type { StoredEntry } from './store.ts';

/** What a key holds instead of its committed state; without `entry`, nothing. */
export interface Override {
  readonly key: string;
  readonly entry: StoredEntry | undefined;
}

/** The range of `base` as it looks with `overrides` (sorted, all under `prefix`) laid over it. */
export function rangeOver(
  base: SortedIndex<StoredEntry>,
  prefix: string,
  overrides: readonly Override[],
): StoredEntry[] {
  return layOver(base.range(prefix), overrides);
}

/** Entries with overrides laid over them; both in the order of keys. */
export function layOver(base: StoredEntry[], overrides: readonly Override[]): StoredEntry[] {
  if (overrides.length === 0) return base;
  const merged: StoredEntry[] = [];
  let at = 0;
  for (const { key, entry } of overrides) {
    while (at < base.length && (base[at] as StoredEntry).key < key) merged.push(base[at++] as StoredEntry);
    if (base[at]?.key === key) at++;
    if (entry !== undefined) merged.push(entry);
  }
  while (at < base.length) merged.push(base[at++] as StoredEntry);
  return merged;
}
