import { expect, test } from 'vitest';
import { type Beat, stories } from '../../tasks/index.ts';
import { formatBeat, formatStories, lookOf } from './text.ts';

const plain = { width: 80, colour: false };
const long = 'A gang trains only while all of its pods run, and a budget that counts pods does not know that. '.repeat(
  4,
);
const beats: readonly Beat[] = [
  { kind: 'heading', text: 'Two gangs on three nodes' },
  { kind: 'say', text: long.trim() },
  { kind: 'command', text: `kubectl get pods ${'--show-labels '.repeat(9).trim()}` },
  { kind: 'output', lines: ['node-a   ● gang-0-0   ○ gang-0-1', `    ${long.trim()}`, ''] },
  { kind: 'claim', text: long.trim(), holds: true },
  { kind: 'next', tries: [['quorate demo', long.trim()]] },
];

test('formatBeat() stays within 80 columns and has no trailing spaces', () => {
  const lines = beats.flatMap((beat) => formatBeat(beat, plain).split('\n'));
  expect(lines.filter((line) => line.length > 80 || /\s$/.test(line))).toEqual([]);
});

test('formatBeat() keeps the columns of lines that fit', () => {
  expect(formatBeat({ kind: 'output', lines: ['NAME       PODS', 'training   3'] }, plain, 'command')).toBe(
    '    NAME       PODS\n    training   3\n',
  );
});

test('formatBeat() differs by nothing but colour on a terminal', () => {
  for (const beat of beats) {
    const painted = formatBeat(beat, { ...plain, colour: true });
    if (beat.kind !== 'say') expect(painted).toContain('\u001b[');
    expect(painted.replace(/\u001b\[[\d;]+m/g, '')).toBe(formatBeat(beat, plain));
  }
});

test('formatBeat() tells a broken promise from a kept one without colour', () => {
  expect(formatBeat({ kind: 'claim', text: 'It holds.', holds: true }, plain)).toBe('\n  ✔ It holds.\n');
  expect(formatBeat({ kind: 'claim', text: 'It holds.', holds: false }, plain)).toBe('\n  ✘ It holds.\n');
});

test.each([
  ['a terminal', { isTTY: true, columns: 120 }, {}, { width: 80, colour: true }],
  ['a narrow terminal', { isTTY: true, columns: 60 }, {}, { width: 60, colour: true }],
  ['a terminal with NO_COLOR', { isTTY: true, columns: 80 }, { NO_COLOR: '1' }, { width: 80, colour: false }],
  ['an empty NO_COLOR', { isTTY: true, columns: 80 }, { NO_COLOR: '' }, { width: 80, colour: true }],
  ['a dumb terminal', { isTTY: true, columns: 80 }, { TERM: 'dumb' }, { width: 80, colour: false }],
  ['a pipe', {}, {}, { width: 80, colour: false }],
])('lookOf() for %s', (_name, stream, environment, want) => {
  expect(lookOf(stream, environment)).toEqual(want);
});

test('formatStories() lists every story within 80 columns and says where to begin', () => {
  const text = formatStories(stories, plain);
  for (const { name, title } of stories) expect(text).toMatch(new RegExp(`^  ${name} +${title}$`, 'm'));
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(text).toContain(`Begin with:  quorate demo ${stories[0]?.name}`);
});
