import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTime, parseTime } from './time.ts';

test('parseTime() reads back what formatTime() writes', () => {
  fc.assert(
    fc.property(fc.integer({ min: -30_000_000_000, max: 250_000_000_000 }), (seconds) => {
      expect(parseTime(formatTime(seconds * 1000))).toBe(seconds * 1000);
    }),
  );
});

test.each(['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01 00:00:00Z', '', 'x'])(
  'parseTime() refuses %j or reads it as the general parser does',
  (text) => {
    const general = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
    expect(parseTime(text)).toBe(Number.isNaN(general) ? undefined : general);
  },
);

test('parseTime() reads fractions and offsets', () => {
  expect(parseTime('2026-01-01T00:00:00.250Z')).toBe(Date.UTC(2026, 0, 1) + 250);
  expect(parseTime('2026-01-01T02:00:00+02:00')).toBe(Date.UTC(2026, 0, 1));
});
