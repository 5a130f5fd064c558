/** What a stream can show. */

export interface Stream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'cyan' | 'green';

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  green: [32, 39],
};

export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_, text) => text;

const coloured: Paint = (style, text) => {
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};

/** Colour for a person at a terminal, unless the person has said no (NO_COLOR, or a terminal that cannot). */
export function paintFor({ isTTY }: Stream, env: Readonly<Record<string, string | undefined>> = process.env): Paint {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? coloured : plain;
}

export const WIDTH = 80;

/** Breaks text at spaces so that no line is wider than it must be; every line starts with the indent. */
export function wrap(text: string, { indent = '', width = WIDTH }: { indent?: string; width?: number } = {}): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, indent + line];
}

const WIDEST = 100;

/**
 * Folds long lines at spaces for a person at a terminal, what follows set in a little. Whatever else reads the output
 * gets one line for each statement.
 */
export function fit(lines: readonly string[], { columns = WIDTH, isTTY }: Stream): string[] {
  if (isTTY !== true) return [...lines];
  const width = Math.min(Math.max(columns, 40), WIDEST);
  return lines.flatMap((line) => {
    if (line.length <= width) return [line];
    const indent = /^ */.exec(line)?.[0] ?? '';
    const [first = '', ...rest] = wrap(line, { indent, width });
    const hanging = `${indent}  `;
    return [first, ...wrap(rest.map((part) => part.trim()).join(' '), { indent: hanging, width })];
  });
}

/** One line that can be rewritten in place: what does not fit is cut off, or the terminal would break it into two. */
export function cut(line: string, { columns = WIDTH }: Stream): string {
  return line.length < columns ? line : `${line.slice(0, Math.max(columns - 2, 1))}…`;
}

export const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

/** Cells under one another, as wide as the widest of each column. */
export function table(rows: readonly (readonly string[])[], gap = '   '): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}
