import type { SortedIndex } from './sorted-index.ts';
import type { Entry, Page, RangeOptions } from './store.ts';

/** What a key holds instead of its committed state; without `entry`, nothing. */
export interface Override {
  readonly key: string;
  readonly entry: Entry | undefined;
}

/** The range of `base` as it looks with `overrides` (sorted, all under `prefix`) laid over it. */
export function rangeOver(
  base: SortedIndex<Entry>,
  prefix: string,
  overrides: readonly Override[],
  options: RangeOptions = {},
): Page {
  const { startAfter, limit = Number.POSITIVE_INFINITY } = options;
  const over = startAfter === undefined ? overrides : overrides.filter(({ key }) => key > startAfter);
  const needed = base.range(prefix, { ...options, limit: limit + over.length });
  const entries = over.length === 0 ? needed : merge(needed, over);
  if (entries.length > limit) entries.length = limit;

  if (limit === Number.POSITIVE_INFINITY) return { entries, more: false, remaining: 0 };
  let total = base.count(prefix, startAfter);
  for (const { key, entry } of over) total += Number(entry !== undefined) - Number(base.get(key) !== undefined);
  const remaining = total - entries.length;
  return { entries, more: remaining > 0, remaining };
}

function merge(base: readonly Entry[], overrides: readonly Override[]): Entry[] {
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
