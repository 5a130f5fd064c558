import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone, deepEqual, semanticEqual, shareParts } from './json.ts';

const json = fc.jsonValue({ maxDepth: 4 });
/** Two values that have much in common, as replicas have. */
const alike = fc.tuple(json, json, json).map(([a, b, c]) => ({
  left: { common: a, own: b, list: [a, b] },
  right: { common: deepClone(a), own: c, list: [deepClone(a), c] },
}));

test('equality is that of the encoded documents, and a clone is equal', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(deepEqual(a, deepClone(a))).toBe(true);
      expect(semanticEqual(a, deepClone(a))).toBe(true);
      expect(deepEqual(a, b)).toBe(sorted(a) === sorted(b));
      if (deepEqual(a, b)) expect(semanticEqual(a, b)).toBe(true);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('null, absent and empty lists are semantically one, at every depth; false, 0 and "" are not', () => {
  expect(semanticEqual({ a: { b: null } }, { a: { b: [] } })).toBe(true);
  expect(semanticEqual({ a: {} }, { a: { b: null } })).toBe(true);
  for (const value of [false, 0, '']) expect(semanticEqual({ a: value }, {})).toBe(false);
});

test('shareParts() changes neither value, and shares what the two have in common', () => {
  fc.assert(
    fc.property(alike, ({ left, right }) => {
      const before = { left: deepClone(left), right: deepClone(right) };
      const shared = shareParts(left as object, right as object) as typeof left;
      expect(sorted(shared)).toBe(sorted(before.left));
      expect(sorted(right)).toBe(sorted(before.right));
      expect(shared.common).toBe(right.common);
      expect(shared.list[0]).toBe(right.list[0]);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('shareParts() of equal values is the sample itself', () => {
  const sample = { a: [{ b: 1 }], c: 'text' };
  expect(shareParts(deepClone(sample), sample)).toBe(sample);
  expect(shareParts<object>({ a: [] }, sample)).toEqual({ a: [] });
});

/** The encoded document with its keys in order; -0 is 0, as on the wire. */
function sorted(value: unknown): string {
  const inOrder = (_key: string, item: unknown): unknown =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value, inOrder);
}
