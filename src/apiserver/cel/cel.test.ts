import { expect, test } from 'vitest';
import { compileCel } from './compile.ts';
import { rewriteObjectLiterals } from './object-literals.ts';
import { fromCel, toCel } from './values.ts';

const run = (expression: string, variables: Record<string, unknown> = {}): unknown => {
  const compiled = compileCel(expression);
  if (!compiled.valid) throw new Error(compiled.message);
  return fromCel(compiled.run(Object.fromEntries(Object.entries(variables).map(([k, v]) => [k, toCel(v)]))));
};

test('compileCel() compares numbers of objects as integers', () => {
  const object = { spec: { replicas: 3 }, metadata: { name: 'a', labels: { x: 'y' } } };
  expect(run('object.spec.replicas > 1', { object })).toBe(true);
  expect(run('object.spec.replicas % 2 == 1 && has(object.metadata.labels)', { object })).toBe(true);
  expect(run("has(object.spec.missing) ? 'yes' : 'no'", { object })).toBe('no');
  expect(run("object.metadata.name.startsWith('a') && 'x' in object.metadata.labels", { object })).toBe(true);
});

test('compileCel() reports what does not compile', () => {
  expect(compileCel('... [] bad expression').valid).toBe(false);
  expect(compileCel('unknownVariable == 1').valid).toBe(false);
});

test('an object literal becomes a map', () => {
  expect(run('Object{spec: Object.spec{replicas: 1337}}')).toEqual({ spec: { replicas: 1337 } });
  expect(run('[JSONPatch{op: "add", path: "/a{b: c}", value: {"k": "v, x: y"}}]')).toEqual([
    { op: 'add', path: '/a{b: c}', value: { k: 'v, x: y' } },
  ]);
  expect(
    run('Object{\n metadata: Object.metadata{\n annotations: {"a": "b"},\n name: object.kind\n}}', {
      object: { kind: 'K' },
    }),
  ).toEqual({ metadata: { annotations: { a: 'b' }, name: 'K' } });
});

test('rewriteObjectLiterals() leaves other expressions as they are', () => {
  for (const text of ['a ? {"b": c} : d', 'size(object.list) > 0', "'Object{a: 1}'", 'x.all(i, i.y == 1)']) {
    expect(rewriteObjectLiterals(text)).toBe(text);
  }
});
