import { expect, test } from 'vitest';
import type { Condition } from '../generated/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../generated/policy-v1.ts';
import { budgetFromV1beta1, budgetToV1beta1, normalizeSelector, RESERVED_KEY } from './empty-selector.ts';
import { validateBudget, validateBudgetStatus } from './validate-budget.ts';

const budget = (spec: PodDisruptionBudgetSpec | Record<string, unknown>): PodDisruptionBudget => ({
  metadata: { name: 'foo' },
  spec: spec as PodDisruptionBudgetSpec,
});
const problems = (spec: Record<string, unknown>, old?: Record<string, unknown>) =>
  validateBudget(budget(spec), old && budget(old)).map(({ path, message }) => `${path}: ${message}`);

for (const minAvailable of ['0%', '1%', '100%', 0, 1, 100]) {
  test(`validateBudget() T1 accepts minAvailable ${minAvailable}`, () =>
    expect(problems({ minAvailable })).toEqual([]));
}

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

for (const [value, text] of [
  ['1.1%', percentText],
  ['nope', percentText],
  ['-1%', percentText],
  ['5', percentText],
  ['101%', 'must not be greater than 100%'],
  [-1, 'must be greater than or equal to 0'],
] as const) {
  for (const field of ['minAvailable', 'maxUnavailable']) {
    test(`validateBudget() T2 refuses ${field} ${value}`, () => {
      expect(problems({ [field]: value })).toEqual([`spec.${field}: Invalid value: ${JSON.stringify(value)}: ${text}`]);
    });
  }
}

test('validateBudget() T3 refuses both bounds on spec', () => {
  const [first] = validateBudget(budget({ minAvailable: 1, maxUnavailable: 1 }));
  expect(first?.path).toBe('spec');
  expect(first?.message).toContain('minAvailable and maxUnavailable cannot be both set');
});

test('validateBudget() T4 accepts neither bound', () => expect(problems({})).toEqual([]));

test('validateBudget() T5 knows two eviction policies and null', () => {
  expect(problems({ unhealthyPodEvictionPolicy: null })).toEqual([]);
  expect(problems({ unhealthyPodEvictionPolicy: 'AlwaysAllow' })).toEqual([]);
  for (const value of ['', 'Invalid']) {
    expect(problems({ unhealthyPodEvictionPolicy: value })).toEqual([
      `spec.unhealthyPodEvictionPolicy: Unsupported value: "${value}": supported values: "AlwaysAllow", "IfHealthyBudget"`,
    ]);
  }
});

test('validateBudget() reports every violated rule', () => {
  const found = problems({
    minAvailable: -1,
    maxUnavailable: '101%',
    unhealthyPodEvictionPolicy: 'x',
    selector: {
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'b', operator: 'Exists', values: ['c'] },
        { key: 'c', operator: 'Near' },
      ],
    },
  });
  expect(found.map((text) => text.split(':')[0])).toEqual([
    'spec',
    'spec.minAvailable',
    'spec.maxUnavailable',
    'spec.selector.matchExpressions[0].values',
    'spec.selector.matchExpressions[1].values',
    'spec.selector.matchExpressions[2].operator',
    'spec.unhealthyPodEvictionPolicy',
  ]);
});

test('validateBudget() V10 lets an update keep label values that were already wrong', () => {
  const wrong = { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['not valid'] }] } };
  expect(problems(wrong)).not.toEqual([]);
  expect(problems(wrong, { selector: { matchLabels: { a: 'b' } } })).not.toEqual([]);
  expect(problems({ ...wrong, minAvailable: 1 }, wrong)).toEqual([]);
});

for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']) {
  test(`validateBudgetStatus() T9 refuses a negative ${field} in v1 and takes it in v1beta1`, () => {
    const bad = { ...budget({}), status: { [field]: -1 } };
    expect(validateBudgetStatus(bad).map(({ path }) => path)).toEqual([`status.${field}`]);
    expect(validateBudgetStatus(bad, 'v1beta1')).toEqual([]);
  });
}

test('validateBudgetStatus() T10 refuses repeated types and conditions without reason or time', () => {
  const good = { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const conditions = [good, good, { ...good, type: 'B', reason: '' }, { type: 'C', status: 'True', reason: 'R' }];
  for (const version of ['v1', 'v1beta1']) {
    const issues = validateBudgetStatus({ ...budget({}), status: { conditions: conditions as Condition[] } }, version);
    expect(issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'status.conditions[1].type FieldValueDuplicate',
      'status.conditions[2].reason FieldValueRequired',
      'status.conditions[3].lastTransitionTime FieldValueRequired',
    ]);
  }
});

const exists = { matchExpressions: [{ key: RESERVED_KEY, operator: 'Exists' }] };
const doesNotExist = { matchExpressions: [{ key: RESERVED_KEY, operator: 'DoesNotExist' }] };
const plain = { matchLabels: { a: 'b' } };

const conversions = [
  { name: 'v1beta1 {} selects nothing in v1', from: budgetFromV1beta1, given: {}, want: exists },
  { name: 'and is {} again in v1beta1', from: budgetToV1beta1, given: exists, want: {} },
  { name: 'v1 {} selects everything in v1beta1', from: budgetToV1beta1, given: {}, want: doesNotExist },
  { name: 'and is {} again in v1', from: budgetFromV1beta1, given: doesNotExist, want: {} },
  { name: 'other selectors pass', from: budgetFromV1beta1, given: plain, want: plain },
  {
    name: 'the reserved key is dropped from other selectors',
    from: normalizeSelector,
    given: { ...plain, ...exists },
    want: { ...plain, matchExpressions: [] },
  },
  { name: 'the reserved expression alone is kept in v1', from: normalizeSelector, given: exists, want: exists },
];

for (const { name, from, given, want } of conversions) {
  test(`T12 ${name}`, () => expect(from(budget({ selector: given })).spec?.selector).toEqual(want));
}

test('T13 a null selector stays null in both versions', () => {
  expect(budgetFromV1beta1(budget({})).spec).toEqual({});
  expect(budgetToV1beta1(budget({})).spec).toEqual({});
});
