import type { HistoryEntry } from '../../api/quorate/disruption-history.ts';
import type { HistoryAnswer } from '../../decisions/history/index.ts';
import { formatAge, parseTime } from '../../machinery/values/index.ts';
import { table } from '../shared/terminal.ts';

const HEAD = ['TIME', 'OUTCOME', 'WAY', 'WHO', 'GROUP', 'PODS', 'CAUSE', 'DOWN', 'REASON'];

/** Every field of an entry, in the order in which the reference lists them. */
const FIELDS = [
  'id',
  'at',
  'outcome',
  'way',
  'voluntary',
  'who',
  'userAgent',
  'cause',
  'namespace',
  'group',
  'owner',
  'pods',
  'podsTotal',
  'budgets',
  'policies',
  'reason',
  'message',
  'repeats',
  'lastAt',
  'noticedAt',
  'acknowledgedAt',
  'goneAt',
  'downAt',
  'wholeAt',
  'groupSeconds',
  'podSeconds',
  'end',
  'during',
] as const satisfies readonly (keyof HistoryEntry)[];

export function formatHistory(entries: readonly HistoryEntry[], format: 'table' | 'json' | 'csv'): string {
  if (format === 'json') return `${JSON.stringify(entries, null, 2)}\n`;
  if (format === 'csv') {
    const rows = entries.map((entry) => FIELDS.map((field) => cellOf(textOf(entry, field))).join(','));
    return [FIELDS.join(','), ...rows].map((row) => `${row}\r\n`).join('');
  }
  return `${table([HEAD, ...entries.map(rowOf)], '  ').join('\n')}\n`;
}

function rowOf(entry: HistoryEntry): string[] {
  const { at, cause, group, outcome, podsTotal, reason, repeats = 1, way, who } = entry;
  return [
    `${at.slice(0, 19)}Z`,
    repeats > 1 ? `${outcome} x${repeats}` : outcome,
    way,
    who ?? '-',
    group,
    String(podsTotal),
    cause === undefined ? '-' : [cause.kind, cause.name].join('/') + (cause.reason ? ` (${cause.reason})` : ''),
    downText(entry),
    reason ?? (entry.during === undefined ? '-' : `during ${entry.during}`),
  ];
}

function downText({ end, groupSeconds, outcome }: HistoryEntry): string {
  if (outcome === 'Refused' || outcome === 'Expired') return '-';
  if (end === 'Open' && groupSeconds === undefined) return 'open';
  return groupSeconds === undefined ? '-' : formatAge(groupSeconds * 1000);
}

function textOf(entry: HistoryEntry, field: (typeof FIELDS)[number]): string {
  switch (field) {
    case 'cause':
      return [entry.cause?.kind, entry.cause?.name, entry.cause?.reason].filter(Boolean).join('/');
    case 'pods':
      return entry.pods.map(({ name, node = '', uid }) => `${name}/${uid}/${node}`).join(' ');
    case 'budgets':
    case 'policies':
      return (entry[field] ?? []).join(' ');
    default:
      return String(entry[field] ?? '');
  }
}

/** RFC 4180; what a spreadsheet would take for a formula is set in quotes, with a mark in front. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What the answer cannot know. */
export function remarks({ entries, from, gaps }: HistoryAnswer, since: number | undefined): string[] {
  const start = parseTime(from === undefined ? undefined : `${from}T00:00:00Z`);
  const goesBack = start !== undefined && (since === undefined || start > since);
  return [
    ...(from === undefined ? ['Nothing has been recorded yet.'] : []),
    ...(from !== undefined && entries.length === 0 ? ['Nothing of that is in the record.'] : []),
    ...(goesBack ? [`The record goes back to ${from}.`] : []),
    ...gaps.map((gap) => `Pods may have gone unseen between ${gap.from.slice(0, 19)}Z and ${gap.to.slice(0, 19)}Z.`),
  ];
}
