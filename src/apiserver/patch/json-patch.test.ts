import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone } from '../../machinery/values/index.ts';
import { applyJsonPatch } from './json-patch.ts';
import { PatchError } from './patch-error.ts';

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
