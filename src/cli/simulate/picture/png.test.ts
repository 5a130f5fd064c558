import { crc32, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { BudgetLine, SimulationResult } from '../../../tasks/index.ts';
import { chartOf, PENS, TEXT_INK } from './chart.ts';
import { glyphOf } from './glyphs.ts';
import { drawPng } from './png.ts';
import { drawSvg } from './svg.ts';

const line = (id: string, violations: BudgetLine['violations'] = []): BudgetLine => ({
  id,
  unit: 'groups',
  points: [
    { seconds: 0, available: 2, desired: 1 },
    { seconds: 30, available: violations.length > 0 ? 0 : 1, desired: 1 },
    { seconds: 60, available: 2, desired: 1 },
  ],
  violations,
  disruptedOnce: 1,
  disruptedAgain: 0,
});

const drain = (budgets: readonly BudgetLine[]): SimulationResult => ({
  actions: [{ action: { kind: 'drain', nodes: ['node-0'] }, endSeconds: 60, finished: true, outcome: 'drained' }],
  seconds: 100,
  settled: true,
  end: 'Finished',
  budgets,
  disruptedOnce: [],
  disruptedAgain: [],
  pods: { before: { total: 6, ready: 6, pending: 0 }, after: { total: 6, ready: 6, pending: 0 } },
  nodes: 3,
  changes: { created: 0, deleted: 0 },
  events: [{ seconds: 20, text: 'step 1 of 1: node node-0' }],
  problems: [],
  countedTwice: [],
});

/** Reads a PNG back by the letter of its format, and finds every checksum right. */
function decode(file: Buffer): { width: number; height: number; at: (x: number, y: number) => string } {
  expect(file.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length; ) {
    const long = file.readUInt32BE(at);
    const named = file.subarray(at + 4, at + 8 + long);
    expect(file.readUInt32BE(at + 8 + long)).toBe(crc32(named));
    chunks.set(named.subarray(0, 4).toString('latin1'), named.subarray(4));
    at += 12 + long;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR') as Buffer;
  expect([...header.subarray(8)]).toEqual([8, 2, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(chunks.get('IDAT') as Buffer);
  expect(rows.length).toBe((width * 3 + 1) * height);
  const filters = new Set(Array.from({ length: height }, (_, row) => rows[row * (width * 3 + 1)]));
  expect(filters).toEqual(new Set([0]));
  const at = (x: number, y: number): string => {
    const from = y * (width * 3 + 1) + 1 + x * 3;
    return `#${rows.subarray(from, from + 3).toString('hex')}`;
  };
  return { width, height, at };
}

test('SM-10 a PNG is the drawing of the SVG at twice its size, with title, steps, numbers and both lines', () => {
  const result = drain([line('ml/training')]);
  const { at, height, width } = decode(drawPng(result, 'x.json, seed 1'));
  expect(drawSvg(result)).toContain(`width="${width / 2}" height="${height / 2}"`);

  /** Which colours there are around a place of the chart. */
  const near = (x: number, y: number, wide = 8, high = 8): Set<string> => {
    const seen = new Set<string>();
    for (let row = 0; row < high * 2; row += 1) {
      for (let column = 0; column < wide * 2; column += 1) seen.add(at(x * 2 + column, y * 2 + row));
    }
    return seen;
  };
  expect(at(0, 0)).toBe('#ffffff');
  const texts = chartOf(result, '').shapes.flatMap((shape) => (shape.kind === 'text' ? [shape] : []));
  const ink = (role: string): string[] => texts.filter((one) => one.role === role).map(({ text }) => text);
  expect(ink('title')).toEqual(['Drain of node-0 (3 nodes, 6 pods), in 1 step, 1m40s']);
  expect(ink('step-name')).toEqual(['1']);
  expect(ink('number')).toEqual(['0', '1', '2']);
  for (const { anchor, text, x, y } of texts) {
    if (text === '') continue;
    const wide = text.length * 6;
    const left = x - (anchor === 'end' ? wide : anchor === 'middle' ? wide / 2 : 0);
    expect(near(Math.round(left), y - 8, wide, 10), text).toContain(TEXT_INK.colour);
  }
  // At 10 s two are available and one is wanted; from 30 s on both lines run beside each other.
  expect(near(320, 76)).toContain(PENS.available.colour);
  expect(near(320, 101)).toContain(PENS.desired.colour);
  const both = near(530, 100, 16, 10);
  expect(both).toContain(PENS.available.colour);
  expect(both).toContain(PENS.desired.colour);
  // The step began at 20 s.
  expect(near(386, 150)).toContain(PENS.step.colour);
});

test('a PNG shades where a budget was broken, and of very many budgets it keeps the broken ones', () => {
  const [from, to] = [30, 60];
  const broken = line('z/broken', [{ fromSeconds: from, toSeconds: to, missing: 1 }]);
  const { at, height } = decode(drawPng(drain([broken])));
  const shade = at((250 + 7 * 50) * 2, 77 * 2);
  expect(shade).toBe('#eec6c6');
  expect(at((250 + 7 * 20 + 20) * 2, 76 * 2)).not.toBe(shade);

  const many = decode(drawPng(drain([...Array.from({ length: 50 }, (_, index) => line(`a/${index}`)), broken])));
  expect(many.height).toBe(height + 49 * 92 * 2);
  expect(many.at((250 + 7 * 50) * 2, 77 * 2)).toBe(shade);
});

test('every letter of ASCII has dots of its own, and others become a box', () => {
  const dots = (letter: string): string => {
    const { high, isSet, wide } = glyphOf(letter);
    return Array.from({ length: high * wide }, (_, at) => (isSet(at % wide, Math.floor(at / wide)) ? '#' : '.')).join(
      '',
    );
  };
  const letters = Array.from({ length: 95 }, (_, at) => String.fromCodePoint(32 + at));
  expect(new Set([...letters, '…', '×', '字'].map(dots)).size).toBe(98);
  expect(dots('字')).toBe(dots('é'));
  expect(dots(' ')).not.toContain('#');
});
