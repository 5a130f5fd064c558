import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepClone } from '../../machinery/values/index.ts';
import { applyMergePatch } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';

test.each([
  ['replaces a member', { a: 'b' }, { a: 'c' }, { a: 'c' }],
  ['adds a member', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  ['deletes on null', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  ['replaces lists whole', { a: ['b'] }, { a: ['c', 'd'] }, { a: ['c', 'd'] }],
  ['merges maps', { a: { b: 'c', d: 1 } }, { a: { b: 'd', c: null } }, { a: { b: 'd', d: 1 } }],
  ['puts a map in place of a scalar, nulls dropped', { a: 'b' }, { a: { b: { c: null } } }, { a: { b: {} } }],
  ['keeps null inside lists', {}, { a: [null] }, { a: [null] }],
])('applyMergePatch() %s', (_, original, patch, want) => {
  expect(applyMergePatch(original, patch)).toEqual(want);
});

test('applyMergePatch() refuses a patch that is not an object', () => {
  expect(() => applyMergePatch({}, [])).toThrow(PatchError);
});

test('applyMergePatch() keeps the members of a key named __proto__ as data', () => {
  const result = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'));
  expect(Object.hasOwn(result, '__proto__')).toBe(true);
  expect(({} as { x?: number }).x).toBeUndefined();
});

const json = fc.jsonValue({ maxDepth: 4 });
const object = fc.dictionary(fc.string({ maxLength: 3 }), json, { maxKeys: 5 });

test('applyMergePatch() twice is the same as once, and changes neither argument', () => {
  fc.assert(
    fc.property(object, object, (original, patch) => {
      const before = deepClone({ original, patch });
      const once = applyMergePatch(original, patch);
      expect(applyMergePatch(once, patch)).toEqual(once);
      expect({ original, patch }).toEqual(before);
    }),
  );
});
