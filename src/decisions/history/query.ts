import type { DisruptionHistory, HistoryEntry, HistoryOutcome } from '../../api/quorate/disruption-history.ts';
import { HISTORY_PART_LABEL } from '../../api/quorate/disruption-history.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';
import { mergeRefusals } from './refusals.ts';

export const HISTORY_SUBJECTS = ['group', 'node', 'budget', 'user'] as const;
export type HistorySubject = (typeof HISTORY_SUBJECTS)[number];

export interface HistoryQuestion {
  readonly about?: { readonly subject: HistorySubject; readonly name: string } | undefined;
  /** Not older than this. */
  readonly since?: number | undefined;
  readonly outcome?: HistoryOutcome | undefined;
}

export interface HistoryAnswer {
  /** The oldest first. */
  readonly entries: readonly HistoryEntry[];
  /** The day that the record goes back to; undefined where there is none. */
  readonly from: string | undefined;
  /** Times in which pods may have gone unseen. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
}

/** What the record says about a question. */
export function askHistory(histories: readonly DisruptionHistory[], question: HistoryQuestion): HistoryAnswer {
  const { about, outcome, since = 0 } = question;
  const entries = histories.flatMap(({ spec }) => spec?.entries ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  const gaps = histories.flatMap(({ spec }) => spec?.gaps ?? []);
  const days = histories
    .filter(({ metadata }) => metadata.labels?.[HISTORY_PART_LABEL] === undefined)
    .flatMap(({ metadata }) => dayOf(metadata.name ?? '') ?? []);
  return {
    entries: mergeRefusals(entries).filter(
      (entry) =>
        timeOf(entry) >= since &&
        (outcome === undefined || entry.outcome === outcome) &&
        (about === undefined || concerns(entry, about.subject, about.name)),
    ),
    from: days.length === 0 ? undefined : formatTime(Math.min(...days)).slice(0, 10),
    gaps: gaps.filter(({ to }) => (parseTime(to) ?? 0) >= since),
  };
}

/** The begin of the day that an object of the record is for, by its name. */
export function dayOf(name: string): number | undefined {
  const found = /^(\d{4})(\d{2})(\d{2})-/.exec(name);
  return found === null ? undefined : Date.parse(`${found[1]}-${found[2]}-${found[3]}T00:00:00Z`);
}

/** What lasted into the time that is asked for counts. */
function timeOf({ at, lastAt, wholeAt }: HistoryEntry): number {
  return Math.max(parseTime(at) ?? 0, parseTime(lastAt) ?? 0, parseTime(wholeAt) ?? 0);
}

/** Groups are named in full, without their namespace, or by their own name alone; budgets with or without namespace. */
function concerns(entry: HistoryEntry, subject: HistorySubject, name: string): boolean {
  const isNamed = (full: string): boolean => full === name || full.endsWith(`/${name}`);
  switch (subject) {
    case 'group':
      return isNamed(entry.group);
    case 'node':
      return entry.pods.some(({ node }) => node === name);
    case 'user':
      return entry.who === name;
    case 'budget': {
      const [budget = '', namespace] = name.split('/').reverse();
      const isThere = namespace === undefined || namespace === entry.namespace;
      return (
        isThere && [...(entry.budgets ?? []), ...(entry.policies ?? [])].some((one) => one === budget || one === name)
      );
    }
  }
}
