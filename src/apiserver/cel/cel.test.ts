import { expect, test } from 'vitest';
import { compileCel } from './compile.ts';
import { CelBudget, CostExceeded } from './meter.ts';
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

const many = Array.from({ length: 300 }, (_, at) => BigInt(at));
const costOf = (expression: string, variables: Record<string, unknown>): number => {
  const compiled = compileCel(expression, Object.keys(variables));
  if (!compiled.valid) throw new Error(compiled.message);
  const budget = new CelBudget();
  const before = budget.left;
  compiled.run(variables, budget);
  return before - budget.left;
};

test.each([
  ['all', 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))'],
  ['exists', 'self.exists(a, self.exists(b, self.exists(c, a + b + c < 0)))'],
  ['map', 'self.map(a, self.map(b, self.map(c, a + b + c))).size() > 0'],
  ['filter', 'self.filter(a, self.all(b, self.all(c, a + b + c >= 0))).size() > 0'],
  ['an error that the expression passes over', 'self.all(a, self.all(b, self.all(c, a + b + c >= 0))) || true'],
  ['comparisons of long texts', 'self.all(a, self.all(b, text + "x" == text + "y" || true))'],
  ['comparisons of long lists', 'self.all(a, self.all(b, self.map(c, c) != [a]))'],
])('17.11: an evaluation ends when it costs too much: %s', (_, expression) => {
  const variables = { self: many, text: 'x'.repeat(1000) };
  expect(() => costOf(expression, variables)).toThrow(CostExceeded);
});

test('17.11: the cost of an evaluation grows with what it does, and is the same each time', () => {
  const cost = (items: number) => costOf('self.all(a, a >= 0)', { self: many.slice(0, items) });
  expect(cost(200) - cost(100)).toBe(cost(300) - cost(200));
  expect(cost(300)).toBeGreaterThan(600);
  expect(costOf('self.all(a, a >= 0)', { self: many })).toBe(cost(300));
});

test('17.11: expressions over the same variables share what they may cost', () => {
  const compiled = compileCel('object.all(a, object.all(b, a + b >= 0))', ['object']);
  if (!compiled.valid) throw new Error(compiled.message);
  const variables = { object: many };
  const runs = (): number => {
    for (let times = 0; ; times++) {
      try {
        compiled.run(variables);
      } catch {
        return times;
      }
    }
  };
  expect(runs()).toBeGreaterThan(0);
  expect(runs()).toBe(0);
});

test('17.11: an expression longer than the real server takes is refused', () => {
  expect(compileCel('true || '.repeat(20_000) + 'true')).toMatchObject({
    valid: false,
    message: expect.stringContaining('expression code point size exceeds limit'),
  });
});
