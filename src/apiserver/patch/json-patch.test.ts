import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone } from '../../machinery/values/index.ts';
import { applyJsonPatch } from './json-patch.ts';
import { OPERATIONS } from './json-patch-operations.ts';
import { PatchError } from './patch-error.ts';
import { PatchWork } from './patch-work.ts';

const codeOf = (run: () => unknown): number => {
  try {
    run();
  } catch (error) {
    if (error instanceof PatchError) return error.code;
    throw error;
  }
  return 200;
};

test.each([
  ['add', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  ['append', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
  ['remove', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
  ['replace', { a: 1 }, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
  ['move', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
  ['copy', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
  ['test', { a: 1 }, [{ op: 'test', path: '/a', value: 1 }], { a: 1 }],
  ['escapes', { 'x/y': 1 }, [{ op: 'replace', path: '/x~1y', value: 2 }], { 'x/y': 2 }],
])('applyJsonPatch() does %s', (_, original, patch, want) => {
  expect(applyJsonPatch(original, patch)).toEqual(want);
});

test.each([
  ['a failed test', [{ op: 'test', path: '/a', value: 2 }], 422],
  ['a missing path to remove', [{ op: 'remove', path: '/zzz' }], 422],
  ['a missing path to replace', [{ op: 'replace', path: '/zzz/y', value: 1 }], 422],
  ['a list index out of range', [{ op: 'add', path: '/l/5', value: 1 }], 422],
  ['an unknown operation', [{ op: 'explode', path: '/a' }], 422],
  ['a patch that is an object', { op: 'add' }, 400],
  ['an operation that is a string', ['add'], 400],
  ['a path that is a number', [{ op: 'remove', path: 5 }], 400],
  ['a write to the prototype', [{ op: 'add', path: '/__proto__/x', value: 1 }], 422],
  ['a root replaced by a scalar', [{ op: 'replace', path: '', value: 1 }], 422],
  ['too many operations', Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 })), 413],
])('applyJsonPatch() refuses %s', (_, patch, code) => {
  expect(codeOf(() => applyJsonPatch({ a: 1, l: [1] }, patch))).toBe(code);
});

test('applyJsonPatch() stops a patch that doubles the object with every copy', () => {
  const patch = Array.from({ length: 100 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/k${i}` }));
  expect(codeOf(() => applyJsonPatch({ a: { text: 'x'.repeat(1000) } }, patch))).toBe(422);
});

const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

test('17.11: applyJsonPatch() moves a value without copying it, however large', () => {
  const large = entries(20_000);
  const work = new PatchWork();
  const document = { root: { a: large } as unknown };
  for (let at = 0; at < 400; at++) {
    const [from, path] = at % 2 === 0 ? ['/a', '/b'] : ['/b', '/a'];
    OPERATIONS.move(document, { op: 'move', from, path }, work);
  }
  expect(work.spent).toBe(0);
  expect((document.root as { a: unknown }).a).toBe(large);
});

test.each([
  [
    'insertions before a long list',
    [
      { op: 'add', path: '/l', value: Array.from({ length: 50_000 }, () => 0) },
      ...Array.from({ length: 9999 }, () => ({ op: 'add', path: '/l/0', value: 0 })),
    ],
  ],
  [
    'moves within a long list',
    [
      { op: 'add', path: '/l', value: Array.from({ length: 50_000 }, () => 0) },
      ...Array.from({ length: 9999 }, () => ({ op: 'move', from: '/l/0', path: '/l/-' })),
    ],
  ],
  [
    'comparisons of a large map with itself',
    [
      { op: 'copy', from: '/large', path: '/a' },
      ...Array.from({ length: 12 }, () => ({ op: 'test', path: '/a', value: entries(20_000) })),
    ],
  ],
])('17.11: applyJsonPatch() ends %s', (_, patch) => {
  expect(codeOf(() => applyJsonPatch({ large: entries(20_000), l: [] }, patch))).toBe(413);
});

test('17.11: applyJsonPatch() refuses to nest deeper than a body may', () => {
  const chain = (levels: number): string => '/a'.repeat(levels);
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  const patch = [1, 2].map((times) => ({ op: 'copy', from: '/b', path: chain(600 * times + 1) }));
  expect(codeOf(() => applyJsonPatch({ a: deep(600), b: deep(600) }, patch))).toBe(422);
});

test.each([
  ['a member that is not there is replaced', [{ op: 'replace', path: '/new', value: 1 }], { a: 1, l: [1, 2], new: 1 }],
  ['an index counts from the end', [{ op: 'replace', path: '/l/-1', value: 3 }], { a: 1, l: [1, 3] }],
  ['nothing equals null', [{ op: 'test', path: '/none', value: null }], { a: 1, l: [1, 2] }],
  ['no value is null', [{ op: 'add', path: '/b' }], { a: 1, l: [1, 2], b: null }],
])('applyJsonPatch() does as the real server: %s', (_, patch, want) => {
  expect(applyJsonPatch({ a: 1, l: [1, 2] }, patch)).toEqual(want);
});

test('applyJsonPatch() fails only with PatchError and never changes its input', () => {
  const path = fc.oneof(
    fc.string(),
    fc.constantFrom('', '/a', '/a/b', '/l/0', '/l/-', '/l/99', '/~', '/__proto__', '/a/'),
  );
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path,
      from: path,
      value: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['op'] },
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (patch) => {
      const original = { a: { b: 1 }, l: [1, { c: 2 }] };
      const before = deepClone({ original, patch });
      codeOf(() => applyJsonPatch(original, patch));
      expect({ original, patch }).toEqual(before);
    }),
    { numRuns: 500 },
  );
});

test('applyJsonPatch() refuses to move a value into itself', () => {
  for (const from of ['', '/l']) {
    expect(() => applyJsonPatch({ l: [1] }, [{ op: 'move', path: '/l/-', from }])).toThrow(PatchError);
  }
});
