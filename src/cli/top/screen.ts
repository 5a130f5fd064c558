/** The screen of `quorate top`, as lines that fit a terminal. */
import type { Fleet } from '../../fleet/index.ts';
import { count, cut, type Paint, plain, table } from '../shared/terminal.ts';
import { budgetCells, drainCells, groupCells, type TopRows } from './rows.ts';

export interface TopScreen {
  readonly server: string;
  /** The time, as the header shows it. */
  readonly time: string;
  /** Why what is shown may be old. */
  readonly stale?: string | undefined;
  readonly columns: number;
  /** Lines there are; absent: as many as it takes. */
  readonly lines?: number | undefined;
  readonly paint?: Paint | undefined;
}

const HEADS = {
  budgets: ['BUDGET', 'COUNTS', 'HEALTHY', 'NEEDED', 'ALLOWED', 'GRANTED', ''],
  groups: ['GROUP', 'HEALTHY', 'NEEDED', 'NODES', 'STATE'],
  drains: ['DRAIN', 'LEFT', 'GOING', 'STATE'],
} as const;

export function drawScreen(fleet: Fleet, rows: TopRows, screen: TopScreen): string[] {
  const { columns, lines } = screen;
  const head = headLines(fleet, rows, screen);
  const sections = [
    { all: rows.budgets.map(budgetCells), heads: HEADS.budgets, none: 'No budget selects any pod.' },
    { all: rows.groups.map(groupCells), heads: HEADS.groups, none: 'No pod belongs to a group.' },
    { all: rows.drains.map(drainCells), heads: HEADS.drains, none: 'No node is being drained.' },
  ];
  // A blank line and a heading each; what is left is shared out, most to what stands first.
  const room = lines === undefined ? Number.POSITIVE_INFINITY : lines - head.length - 2 * sections.length;
  const shares = shareOut(
    sections.map(({ all }) => Math.max(all.length, 1)),
    room,
  );
  const body = sections.flatMap(({ all, heads, none }, at) => [
    '',
    ...section(heads, all, none, shares[at] ?? 0, screen),
  ]);
  return [...head, ...body].map((line) => (line.includes('\u001b') ? line : cut(line, { columns })));
}

function headLines(fleet: Fleet, { drained, drains, groups, unread }: TopRows, screen: TopScreen): string[] {
  const { columns, paint = plain, server, stale, time } = screen;
  const down = groups.filter(({ mark }) => mark === 'broken').length;
  const cordoned = drains.length + drained.length;
  const sums = [
    `${count(fleet.nodes.size, 'node')}${cordoned > 0 ? `, ${cordoned} cordoned` : ''}`,
    count(fleet.pods.size, 'pod'),
    `${count(groups.length, 'group')}${down > 0 ? `, ${down} broken` : ''}`,
  ];
  const told = cut(`quorate top  ${server}  ${time}`, { columns });
  return [
    paint('bold', told),
    sums.join('   '),
    ...(unread.length > 0
      ? [paint('yellow', cut(`You may not read everything: ${unread.join(', ')}`, { columns }))]
      : []),
    ...(stale === undefined ? [] : [paint('red', cut(`May be out of date: ${stale}`, { columns }))]),
  ];
}

function section(
  heads: readonly string[],
  all: readonly string[][],
  none: string,
  share: number,
  { columns, paint = plain }: TopScreen,
): string[] {
  if (all.length === 0) return share > 0 ? [paint('dim', none)] : [];
  const shown = all.length > share ? all.slice(0, Math.max(share - 1, 0)) : all;
  const [heading = '', ...lines] = table(narrow([[...heads], ...shown], columns), GAP);
  const more = all.length - shown.length;
  return [paint('bold', cut(heading, { columns })), ...lines, ...(more > 0 ? [paint('dim', `and ${more} more`)] : [])];
}

const GAP = '  ';
/** Of a name so much is always shown. */
const SHORTEST = 16;

/** Names in the first column lose their middle where the rest of the row would not fit otherwise. */
function narrow(rows: readonly (readonly string[])[], columns: number): string[][] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const others = widths.slice(1).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(SHORTEST, columns - 1 - others);
  return rows.map(([name = '', ...rest]) => [shorten(name, room), ...rest]);
}

function shorten(name: string, room: number): string {
  if (name.length <= room) return name;
  const start = Math.floor((room - 1) / 2);
  return `${name.slice(0, start)}…${name.slice(name.length - (room - 1 - start))}`;
}

/** As much for each as it wants; where that is too much, nobody gets more than the others while they want more. */
export function shareOut(wanted: readonly number[], room: number): number[] {
  const shares = wanted.map(() => 0);
  let left = Math.max(room, 0);
  const order = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  for (const [done, at] of order.entries()) {
    const fair = Math.floor(left / (order.length - done));
    const share = Math.min(wanted[at] ?? 0, Number.isFinite(left) ? fair : Number.POSITIVE_INFINITY);
    shares[at] = share;
    left -= share;
  }
  return shares;
}
