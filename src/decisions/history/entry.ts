import type { HistoryEntry, HistoryOutcome, HistoryWay } from '../../api/quorate/disruption-history.ts';
import { formatMicroTime, parseTime } from '../../machinery/values/index.ts';
import type { GivenAnswer } from './answers.ts';
import type { FoundCause, PodDeparture } from './cause.ts';
import type { Outage } from './outage.ts';

/** It is over. */
export function close(
  entry: HistoryEntry,
  outage: Outage,
  { at, end }: { at: number; end: 'Whole' | 'Removed' },
): void {
  if (end === 'Whole') entry.wholeAt = formatMicroTime(at);
  entry.groupSeconds = seconds(Math.max(0, at - outage.downAt));
  entry.podSeconds = seconds(outage.podMsAt(at));
  entry.end = end;
}

/** To the millisecond. */
export const seconds = (ms: number): number => Math.round(ms) / 1000;

/** When it was last added to. */
export const lastTime = ({ at, lastAt }: HistoryEntry): number => parseTime(lastAt ?? at) ?? 0;

export function isSameCause(entry: HistoryEntry, found: FoundCause): boolean {
  const { cause, outcome, way, who } = found;
  return (
    entry.way === way &&
    entry.outcome === outcome &&
    (entry.who === who || entry.who === undefined || who === undefined) &&
    entry.cause?.name === cause?.name
  );
}

/** What an owner removes while its group is down for something else goes for the same. */
export function asBefore(
  entry: HistoryEntry,
  { isFinished, isUnwanted }: PodDeparture,
): { outcome: HistoryOutcome; way: HistoryWay; voluntary: boolean; cause?: FoundCause['cause'] } | undefined {
  if (isFinished || !isUnwanted || entry.end === 'Whole') return undefined;
  const { cause, outcome, voluntary, way } = entry;
  return { outcome, way, voluntary, ...(cause && { cause: cause as NonNullable<FoundCause['cause']> }) };
}

/** A pod on its own. */
export const isSingle = (group: string): boolean => group.split('/')[1] === 'Pod';

export const groupOfAnswer = ({ group, namespace, pod }: GivenAnswer): string =>
  `${namespace}/${group ?? `Pod/${pod?.name ?? ''}`}`;
