import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatNanos,
  isQuantity,
  parseMillis,
  parseNanos,
  parseUnits,
} from './quantity.ts';
import { formatAge, formatMicroTime, formatTime, parseDurationMs } from './time.ts';

test('parseMillis() reads CPU', () => {
  expect(parseMillis('100m')).toBe(100);
  expect(parseMillis('1.5')).toBe(1500);
  expect(parseMillis(2)).toBe(2000);
  expect(parseMillis('1n')).toBe(1);
});

test('parseUnits() reads memory', () => {
  expect(parseUnits('1Gi')).toBe(1024 ** 3);
  expect(parseUnits('2e3')).toBe(2000);
  expect(parseUnits('1500m')).toBe(2);
});

test('canonicalQuantity() prints the shortest exact form in its own family', () => {
  expect(canonicalQuantity('1000m')).toBe('1');
  expect(canonicalQuantity('1024Ki')).toBe('1Mi');
  expect(canonicalQuantity('0.5Gi')).toBe('512Mi');
  expect(canonicalQuantity('1e3')).toBe('1k');
});

test('addQuantities() keeps the family of the first operand', () => {
  expect(addQuantities('1Gi', '1Gi')).toBe('2Gi');
  expect(addQuantities('100m', '900m')).toBe('1');
  expect(compareQuantities('1Ki', '1k')).toBe(1);
});

test('isQuantity() refuses what is none', () => {
  for (const bad of ['', 'x', '1Zi', '1 Gi', '--1', '1.2.3']) expect(isQuantity(bad)).toBe(false);
});

test('formatNanos() survives a round trip', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.boolean(), (nanos, binary) => {
      expect(parseNanos(formatNanos(nanos, binary))).toBe(nanos);
    }),
  );
});

test('times are whole seconds, micro times have six digits', () => {
  expect(formatTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20Z');
  expect(formatMicroTime(1_700_000_000_123)).toBe('2023-11-14T22:13:20.123000Z');
});

test('parseDurationMs() reads Go durations and nothing else', () => {
  expect(parseDurationMs('1m30s')).toBe(90_000);
  expect(parseDurationMs('1.5h')).toBe(5_400_000);
  expect(parseDurationMs('10')).toBeUndefined();
});

test('formatAge() prints as kubectl does', () => {
  const seconds = (count: number) => formatAge(count * 1000);
  expect([5, 119, 125, 300, 3600, 12_000, 90_000, 400_000, 86_400 * 30].map(seconds)).toEqual([
    '5s',
    '119s',
    '2m5s',
    '5m',
    '60m',
    '3h20m',
    '25h',
    '4d15h',
    '30d',
  ]);
});

test('17.11: parseNanos() refuses more digits than any amount needs', () => {
  expect(() => parseNanos('9'.repeat(1_000_000))).toThrow(/at most 100 characters/);
});
