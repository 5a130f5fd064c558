import { HISTORY_LIMITS, type HistoryEntry } from '../../api/quorate/disruption-history.ts';
import { dayOf } from './query.ts';

export interface HistoryBounds {
  readonly days: number;
  readonly bytes: number;
}

/** An object of the record that is written already. */
export interface KeptHistory {
  readonly namespace: string;
  readonly name: string;
  readonly bytes: number;
  readonly entries: number;
}

const DAY_MS = 24 * 60 * 60_000;

/** Which objects go, so that the record stays within days and bytes: the oldest days first, never those of today. */
export function overBounds(kept: readonly KeptHistory[], { bytes, days }: HistoryBounds, now: number): KeptHistory[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const oldest = [...kept]
    .map((one) => ({ one, day: dayOf(one.name) ?? today }))
    .sort((a, b) => a.day - b.day || (a.one.name < b.one.name ? -1 : 1));
  let total = kept.reduce((sum, one) => sum + one.bytes, 0);
  const over: KeptHistory[] = [];
  for (const { day, one } of oldest) {
    const isOld = day < today - (days - 1) * DAY_MS;
    // What is still being written is spared, so that a bound that is too small loses days and not the record.
    if (!isOld && (total <= bytes || day >= today)) continue;
    over.push(one);
    total -= one.bytes;
  }
  return over;
}

/** `YYYYMMDD-WRITER-NN`. */
export function historyName(at: number, writer: string, number: number): string {
  const day = new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
  return `${day}-${writer}-${String(number).padStart(2, '0')}`;
}

/** Whether an entry still fits into an object that has so many, of so many bytes. */
export function hasRoomFor(entry: HistoryEntry, { bytes, entries }: Pick<KeptHistory, 'bytes' | 'entries'>): boolean {
  return entries < HISTORY_LIMITS.entries && bytes + entryBytes(entry) + RESERVE_BYTES <= HISTORY_LIMITS.bytes;
}

export const entryBytes = (entry: HistoryEntry): number => JSON.stringify(entry).length + 1;

/** What is added to entries later: when they were whole again, who asked, further pods. */
const RESERVE_BYTES = 32 * 1024;
