/**
 * A range as it was before some events. Whoever pages through a large collection asks for this with every page, while
 * ever more is written: so a page looks at each event, but undoes and sorts only those that it shows.
 */
import { layOver, type Override } from './overrides.ts';
import type { SortedIndex } from './sorted-index.ts';
import type { StoredEntry, Page, RangeOptions, StoreEvent } from './store.ts';

/** `events` are all that happened since under `prefix`, oldest first; `base` is the state after them. */
export function rangeBefore(
  base: SortedIndex<StoredEntry>,
  prefix: string,
  events: readonly StoreEvent[],
  { startAfter, limit = Number.POSITIVE_INFINITY }: RangeOptions = {},
): Page {
  const since = startAfter === undefined ? events : events.filter(({ key }) => key > startAfter);
  const entries: StoredEntry[] = [];
  let from = startAfter;
  for (;;) {
    const room = limit - entries.length;
    const window = base.range(prefix, { limit: room, ...(from !== undefined && { startAfter: from }) });
    const end = window.length < room ? undefined : window.at(-1)?.key;
    for (const entry of layOver(window, undo(since, from, end))) entries.push(entry);
    // A window of keys that did not exist then shows less than a page.
    if (end === undefined || entries.length >= limit) break;
    from = end;
  }
  if (limit === Number.POSITIVE_INFINITY) return { entries, more: false, remaining: 0 };
  if (entries.length > limit) entries.length = limit;
  const remaining = base.count(prefix, startAfter) - grownBy(since) - entries.length;
  return { entries, more: remaining > 0, remaining };
}

/** What the keys after `from`, up to `end`, held before the events; sorted by key. */
function undo(events: readonly StoreEvent[], from: string | undefined, end: string | undefined): Override[] {
  const before = new Map<string, Override>();
  for (const { key, previous } of events) {
    if ((from !== undefined && key <= from) || (end !== undefined && key > end)) continue;
    if (!before.has(key)) before.set(key, { key, entry: previous });
  }
  return [...before.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function grownBy(events: readonly StoreEvent[]): number {
  let keys = 0;
  for (const { type, previous } of events) {
    if (type === 'delete') keys--;
    else if (previous === undefined) keys++;
  }
  return keys;
}
