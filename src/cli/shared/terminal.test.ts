import { expect, test } from 'vitest';
import { cut, fit } from './terminal.ts';

test('cut() keeps a line that rewrites itself within the terminal', () => {
  expect(cut('short', { columns: 80 })).toBe('short');
  expect(cut('x'.repeat(200), { columns: 20 })).toBe(`${'x'.repeat(18)}…`);
  expect(cut('x'.repeat(200), {}).length).toBeLessThan(80);
});

test('fit() folds for a terminal and leaves one line to a statement elsewhere', () => {
  const line = 'word '.repeat(30).trim();
  expect(fit([line], { isTTY: true, columns: 80 }).every((one) => one.length <= 80)).toBe(true);
  expect(fit([line], {})).toEqual([line]);
});
