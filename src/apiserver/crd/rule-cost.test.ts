import { expect, test } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { FieldPath } from '../../machinery/values/index.ts';
import { compileCel } from '../cel/compile.ts';
import { LIMITS } from '../exchange/limits.ts';
import { checkRules } from './rule-check.ts';
import { estimateRule } from './rule-cost.ts';
import { compileRules, RULE_VARIABLES } from './rules.ts';
import { validateDefinition } from './validation.ts';

const list = (type: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'array',
  items: { type },
  ...more,
});
const map = (type: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  additionalProperties: { type },
  ...more,
});
const text: JSONSchemaProps = { type: 'string' };

/** What the estimate of the real server comes to. */
test.each<[rule: string, schema: JSONSchemaProps, cost: number]>([
  ['self.all(x, true)', list('string'), 3_145_727],
  ['self.all(x, true)', list('string', { maxItems: 20 }), 62],
  ['self.all(x, true)', list('boolean'), 1_887_437],
  ['self.all(x, true)', map('number'), 1_348_169],
  ['self.all(x, true)', map('number', { maxProperties: 10 }), 32],
  ['self.all(x, true)', map('string'), 1_179_647],
  ['has(self.x)', map('string'), 0],
  ["self.contains('test')", text, 314_574],
  ["self.contains('test')", { ...text, maxLength: 10 }, 5],
  ["self.startsWith('test')", text, 2],
  ['size(self + "hello") > size("hello")', text, 314_578],
  ['self[1] == 0.0', list('number'), 2],
  ['self[1] == self[1]', list('string'), 314_577],
  ['self.all(x, x == 0.0)', list('number'), 6_291_454],
  ['self.matches("x")', text, 314_574],
  ['self.matches("")', text, 1],
])('estimateRule() of %s over %o is about %d', (rule, schema, cost) => {
  const compiled = compileCel(rule, RULE_VARIABLES);
  if (!compiled.valid) throw new Error(compiled.message);
  const estimated = estimateRule(compiled.ast, schema);
  expect(Math.abs(estimated - cost)).toBeLessThanOrEqual(2);
});

const withRule = (rule: string, schema: JSONSchemaProps): JSONSchemaProps => ({
  ...schema,
  'x-kubernetes-validations': [{ rule }],
});
const messages = (schema: JSONSchemaProps) =>
  checkRules(schema, FieldPath.of('openAPIV3Schema')).map(({ path, message }) => `${path}: ${message}`);
const cube = 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))';
const HINT =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

test('17.11: a rule of n³ is refused where the list has no bound, and accepted where it is short', () => {
  expect(messages(withRule(cube, list('integer')))).toEqual([
    `openAPIV3Schema.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${HINT}`,
    'openAPIV3Schema.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    `openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${HINT}`,
  ]);
  expect(messages(withRule(cube, list('integer', { maxItems: 20 })))).toEqual([]);
});

test('17.11: a cheap rule in a list of lists is dear', () => {
  const inner = withRule("self.all(s, s == 'constant')", list('string'));
  expect(messages({ type: 'array', items: inner })[0]).toContain('exceeds budget by factor of more than 100x');
  expect(messages({ type: 'array', maxItems: 10, items: { ...inner, maxItems: 10 } })).toEqual([]);
});

test('the rules of the conformance suite are accepted', () => {
  const largeArray = list('integer', { maxItems: 725 });
  const rule = 'self.largeArray.all(x, self.largeArray.all(y, y == x))';
  expect(messages(withRule(rule, { type: 'object', properties: { largeArray } }))).toEqual([]);
});

test('17.11: more rules than a definition may have are refused before they are compiled', () => {
  const rules = Array.from({ length: LIMITS.celRules + 1 }, () => ({ rule: 'self > 1' }));
  expect(messages({ type: 'integer', 'x-kubernetes-validations': rules })).toEqual([
    expect.stringContaining('the limit for an entire OpenAPIv3 schema is 1000'),
  ]);
});

test('17.11: an evaluation that costs too much ends the validation, in the words of the real server', () => {
  const check = compileRules({
    type: 'object',
    properties: {
      a: withRule('self.all(x, self.all(y, y == x))', list('integer')),
      b: withRule('self > 5', { type: 'integer' }),
    },
  });
  const issues = check({ a: Array.from({ length: 725 }, () => 20), b: 1 }, undefined);
  expect(issues.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    expect.stringMatching(/^a: Invalid value: .* due to call cost exceeds limit for rule: self\.all\(x, /),
  ]);
});

test('17.11: rules that are stored already are not refused for what they cost', () => {
  const schema: JSONSchemaProps = {
    ...list('integer'),
    'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))' }],
  };
  const path = FieldPath.of('openAPIV3Schema');
  expect(checkRules(schema, path)).not.toEqual([]);
  expect(checkRules(schema, path, true)).toEqual([]);
  const definition = {
    metadata: { name: 'cubes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'cubes', singular: 'cube', kind: 'Cube', listKind: 'CubeList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        },
      ],
    },
  } satisfies CustomResourceDefinition;
  expect(validateDefinition(definition)).not.toEqual([]);
  expect(validateDefinition(definition, definition)).toEqual([]);
  const wrong = { ...schema, 'x-kubernetes-validations': [{ rule: 'self.all(' }] };
  expect(checkRules(wrong, path, true)).toHaveLength(1);
});

test('17.11: matching a large text with a large pattern counts before it is done', () => {
  const rule = `self.matches('(a|b|c|d|e|f|g|h){1,500}$')`;
  const validate = compileRules({ type: 'string', 'x-kubernetes-validations': [{ rule }] });
  const problems = (value: string) => validate(value as never, undefined).map(({ message }) => message);
  expect(problems('abcdefgh'.repeat(20))).toEqual([]);
  expect(problems('abcdefgh'.repeat(12_500))).toEqual([expect.stringContaining('call cost exceeds limit')]);
});

test('17.11: a text made of something else may get as long as it likes, and so may a list that is joined', () => {
  const schema: JSONSchemaProps = { type: 'object', properties: { n: { type: 'integer' }, l: list('string') } };
  const one = (rule: string) => messages(withRule(rule, schema))[0];
  expect(one("('it is ' + string(self.n)).size() > 0")).toContain('more than 100x');
  expect(one("string(self.n) == 'x'")).toBeUndefined();
  expect(one("self.l.join(',') == ''")).toContain('more than 100x');
});
