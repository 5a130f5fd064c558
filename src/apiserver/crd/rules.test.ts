/** What is said of rules that do not hold or cannot be asked, as kube-apiserver v1.36.4 said it of the same objects. */
import { expect, test } from 'vitest';
import type { JSONSchemaProps, ValidationRule } from '../../api/generated/apiextensions-v1.ts';
import { compileRules } from './rules.ts';

const withRules = (schema: JSONSchemaProps, ...rules: ValidationRule[]): JSONSchemaProps => ({
  ...schema,
  'x-kubernetes-validations': rules,
});
const properties: NonNullable<JSONSchemaProps['properties']> = {
  num: withRules({ type: 'integer' }, { rule: 'self != 3' }),
  s: withRules({ type: 'string' }, { rule: "self != 'bad'", message: 'is bad' }),
  m: { type: 'object', additionalProperties: { type: 'string' } },
  l: withRules(
    { type: 'array', items: withRules({ type: 'string' }, { rule: "self != 'x'" }) },
    { rule: 'self.size() < 2' },
  ),
};
const size = "(self.num > 7 ? 'big' : 'small')";
const spec = withRules(
  { type: 'object', properties },
  { rule: '!has(self.num) || self.num < 5' },
  { rule: '!has(self.num) || self.num < 6', message: 'too large' },
  { rule: '!has(self.num) || self.num < 7', messageExpression: `'it is ' + ${size}` },
  { rule: '!has(self.num) || self.num < 8', messageExpression: `'it is \\n' + ${size}` },
  { rule: '!has(self.num) || self.num < 8', message: 'fixed', messageExpression: "'  '" },
  { rule: '!has(self.num) || 10 / (self.num - 9) > 0' },
  { rule: "!has(self.m) || self.m['nokey'] == 'x'" },
  { rule: '!has(self.num) || self.num < 9', reason: 'FieldValueForbidden' },
);
const told = (object: object, schema: JSONSchemaProps = spec): string[] =>
  compileRules({ type: 'object', properties: { spec: schema } })({ spec: object }, undefined).map(
    ({ message, path }) => `${path}: ${message}`,
  );

test.each<[object, string[]]>([
  [{ num: 1 }, ['spec: Invalid value: failed rule: !has(self.num) || 10 / (self.num - 9) > 0']],
  [
    { num: 9 },
    [
      'spec: Invalid value: failed rule: !has(self.num) || self.num < 5',
      'spec: Invalid value: too large',
      'spec: Invalid value: it is big',
      'spec: Invalid value: failed rule: !has(self.num) || self.num < 8',
      'spec: Invalid value: fixed',
      'spec: Invalid value: "object": division by zero evaluating rule: !has(self.num) || 10 / (self.num - 9) > 0',
      'spec: Forbidden: failed rule: !has(self.num) || self.num < 9',
    ],
  ],
  [
    { num: 3 },
    [
      'spec: Invalid value: failed rule: !has(self.num) || 10 / (self.num - 9) > 0',
      'spec.num: Invalid value: 3: failed rule: self != 3',
    ],
  ],
  [{ s: 'bad' }, ['spec.s: Invalid value: "bad": is bad']],
  [
    { m: { a: 'b' } },
    [`spec: Invalid value: "object": no such key: nokey evaluating rule: !has(self.m) || self.m['nokey'] == 'x'`],
  ],
  [
    { l: ['x', 'z'] },
    ['spec.l: Invalid value: failed rule: self.size() < 2', `spec.l[0]: Invalid value: "x": failed rule: self != 'x'`],
  ],
])('17.11: of %j is said what does not hold', (object, messages) => {
  expect(told(object)).toEqual(messages);
});

const big = Array.from({ length: 300 }, () => 7);
const dear = 'self.all(x, self.all(y, x == y))';
const END = 'no further validation rules will be run';

test('17.11: a rule that finds too little of the budget left ends the validation, and says that it ran out', () => {
  const many = Array.from({ length: 6 }, () => ({ rule: dear }));
  const messages = told(big, withRules({ type: 'array', items: { type: 'integer' } }, ...many));
  expect(messages).toEqual([
    `spec: Invalid value: "array": validation failed due to running out of cost budget, ${END}`,
  ]);
});

test('17.11: one that costs too much by itself says that, and what it is', () => {
  const messages = told(
    Array.from({ length: 1000 }, () => 7),
    withRules({ type: 'array', items: { type: 'integer' } }, { rule: dear }, { rule: 'self.size() < 1' }),
  );
  expect(messages).toEqual([
    `spec: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': ${END} due to call cost exceeds limit for rule: ${dear}`,
  ]);
});

test('17.11: a message that costs too much ends the validation as well; one that is too long is not taken', () => {
  const array: JSONSchemaProps = { type: 'array', items: { type: 'integer' } };
  const costly = { rule: 'false', messageExpression: `${dear} ? 'a' : 'b'` };
  const thousand = Array.from({ length: 1000 }, () => 7);
  expect(told(thousand, withRules(array, costly, { rule: 'self.size() < 1' }))).toEqual([
    `spec: Invalid value: "array": ${END} due to call cost exceeds limit for messageExpression: ${JSON.stringify(costly.messageExpression)}`,
  ]);
  const long = { rule: 'false', message: 'short', messageExpression: `'${'a'.repeat(5 * 1024 + 1)}'` };
  expect(told([], withRules(array, long))).toEqual(['spec: Invalid value: short']);
});
