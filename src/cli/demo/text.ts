/** How the beats of a story look on a terminal. Pure. */
import type { Beat, Story } from '../../tasks/index.ts';

export interface Look {
  /** Columns of the terminal. */
  readonly width: number;
  readonly colour: boolean;
}

const ESCAPE = '\u001b[';
const STYLES = { bold: '1', dim: '2', red: '31', green: '32', cyan: '36', boldCyan: '1;36' } as const;
const WIDEST = 80;

export function lookOf(
  stream: { isTTY?: boolean | undefined; columns?: number | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): Look {
  const colour = stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return { width: Math.min(Math.max(stream.columns ?? WIDEST, 40), WIDEST), colour };
}

/** One beat as text. What stands right above it decides whether a blank line comes between. */
export function formatBeat(beat: Beat, look: Look, above?: Beat['kind']): string {
  const paint = painter(look);
  switch (beat.kind) {
    case 'heading':
      return `\n${paint('bold', `━━ ${beat.text} ${'━'.repeat(Math.max(0, look.width - beat.text.length - 4))}`)}\n`;
    case 'say':
      return `\n${wrap(beat.text, { width: look.width, first: '  ' })}\n`;
    case 'command': {
      // Long ones go on in the next line, as a shell takes them.
      const lines = wrap(beat.text, { width: look.width - 6, first: '' }).split('\n');
      return `\n  ${paint('dim', '$')} ${lines.map((line) => paint('boldCyan', line)).join(' \\\n      ')}\n`;
    }
    case 'output': {
      const goesOn = above === 'command' || (above === 'output' && beat.lines.length === 1);
      const lines = beat.lines.map((line) => paintMarks(outputLine(line, look), paint));
      return `${goesOn ? '' : '\n'}${lines.join('\n')}\n`;
    }
    case 'claim': {
      const mark = beat.holds ? paint('green', '✔') : paint('red', '✘');
      const text = wrap(beat.text, { width: look.width - 4, first: '' })
        .split('\n')
        .join('\n    ');
      return `${above === 'claim' ? '' : '\n'}  ${mark} ${paint('bold', text)}\n`;
    }
    case 'next':
      return `\n${paint('bold', 'Next:')}\n${formatTries(beat.tries, look, paint)}\n`;
  }
}

export function formatStories(stories: readonly Story[], look: Look): string {
  const paint = painter(look);
  const widest = Math.max(...stories.map(({ name }) => name.length));
  const rows = stories.map(({ name, title }) => `  ${paint('boldCyan', name.padEnd(widest))}   ${title}`);
  return [
    'Stories, a minute or two each. Every one plays on a control plane of its own in',
    'this process, through its real API; nothing is left behind.',
    '',
    ...rows,
    '',
    `Begin with:  ${paint('boldCyan', `quorate demo ${stories[0]?.name ?? ''}`)}`,
    '',
  ].join('\n');
}

/** How long a reader is given for a beat. */
export function readingTimeMs(beat: Beat): number {
  switch (beat.kind) {
    case 'heading':
      return 500;
    case 'say':
      return Math.min(500 + beat.text.split(' ').length * 110, 5000);
    case 'command':
      return 700;
    case 'output':
      return Math.min(400 + beat.lines.length * 200, 2500);
    case 'claim':
      return 1500;
    case 'next':
      return 0;
  }
}

type Paint = (style: keyof typeof STYLES, text: string) => string;

const painter =
  ({ colour }: Look): Paint =>
  (style, text) =>
    colour ? `${ESCAPE}${STYLES[style]}m${text}${ESCAPE}0m` : text;

/** Long lines go on under their own beginning. */
function outputLine(line: string, { width }: Look): string {
  if (line === '') return '';
  const indent = /^ */.exec(line)?.[0] ?? '';
  return wrap(line.trimStart(), { width, first: `    ${indent}`, rest: `    ${indent}  ` });
}

const MARKS: readonly (readonly [RegExp, keyof typeof STYLES])[] = [
  [/[●✓]/g, 'green'],
  [/[○✗]/g, 'red'],
];

const paintMarks = (text: string, paint: Paint): string =>
  MARKS.reduce((painted, [mark, style]) => painted.replace(mark, (found) => paint(style, found)), text);

function formatTries(tries: readonly (readonly [string, string])[], look: Look, paint: Paint): string {
  return tries
    .map(([command, what]) => `  ${paint('boldCyan', command)}\n${wrap(what, { width: look.width, first: '      ' })}`)
    .join('\n');
}

/** Breaks between words only; runs of spaces inside a line that fits are left alone, since they align columns. */
function wrap(text: string, { first, rest = first, width }: { first: string; rest?: string; width: number }): string {
  if (first.length + text.length <= width) return first + text;
  const lines: string[] = [];
  let line = first;
  let empty = true;
  for (const word of text.split(/ +/)) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = rest;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line].join('\n');
}
