import { expect, test } from 'vitest';
import { compileCel } from './compile.ts';
import { rewriteSource } from './rewrite.ts';
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

test('rewriteSource() leaves other expressions as they are', () => {
  for (const text of ['a ? {"b": c} : d', 'size(object.list) > 0', "'Object{a: 1}'", 'x.all(i, i.y == 1)']) {
    expect(rewriteSource(text)).toBe(text);
  }
});

const library: [string, unknown][] = [
  ["'abc'.matches('^a.c$')", true],
  ["object.name.matches('^q') && matches(object.name, 'q$')", true],
  ["'a-b-c'.replace('-', '+')", 'a+b+c'],
  ["'a-b-c'.replace('-', '+', 1)", 'a+b-c'],
  ["'x1 y22'.findAll('[0-9]+')", ['1', '22']],
  ["'%s has %d'.format(['a', 3])", 'a has 3'],
  ['object.list.sum()', 6],
  ['object.list.max() - object.list.min()', 2],
  ['object.list.isSorted() && object.list.indexOf(2) == 1', true],
  ["quantity('1Gi').isGreaterThan(quantity('1000Mi'))", true],
  ["quantity('500m').add(quantity('1.5')).asInteger()", 2],
  ["isQuantity('1x') || isURL('https://a')", true],
];
for (const [expression, want] of library) {
  test(`library: ${expression}`, () => {
    expect(run(expression, { object: { name: 'q', list: [1, 2, 3] } })).toEqual(want);
  });
}

test('an evil pattern takes no time', () => {
  const object = { name: `${'a'.repeat(40)}!` };
  expect(run("object.name.matches('^(a+)+$')", { object })).toBe(false);
});
